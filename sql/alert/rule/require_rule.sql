create or replace function alert.require_rule(p_row alert.rule) returns void
language plpgsql stable as $$
declare
  v_has_reason constant boolean := p_row.by_label is not distinct from 'reason' or p_row.labels ? 'reason';
  v_wrong text;
begin
  if p_row.figure is null then
    return;  -- the constraints of the table refuse the row
  end if;
  perform history.require_figure(p_row.setup, p_row.figure, p_row.by_label, p_row.labels);
  if p_row.per_figure is not null then
    perform history.require_figure(p_row.setup, p_row.per_figure, p_row.by_label, p_row.per_labels);
  end if;
  v_wrong := (select m[1] from regexp_matches(p_row.summary, '[{]([^{}]*)[}]', 'g') m
               where m[1] <> 'value' and m[1] is distinct from p_row.by_label
                 and not (m[1] = 'meaning' and v_has_reason) limit 1);
  if v_wrong is not null then
    raise exception 'rule %: summary has {%}, which is not known', p_row.rule, left(v_wrong, 100)
      using errcode = 'PB001',
            hint = 'A summary may have ' || concat_ws(' and ', '{value}', '{' || p_row.by_label || '}',
                                                       case when v_has_reason then '{meaning}' end) || '.';
  elsif date_trunc('minute', p_row.over) <> p_row.over then
    raise exception 'rule %: over is %, which is not a whole number of minutes', p_row.rule, p_row.over
      using errcode = 'PB001', hint = 'Figures are sampled each minute.';
  end if;
end $$;

comment on function alert.require_rule(alert.rule) is
  'Refuses a rule with a figure or a label that does not exist, and a summary with an unknown word in braces. Errors: '
  'PB001.';
