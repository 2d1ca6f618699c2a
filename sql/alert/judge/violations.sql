-- A quotient is not judged if its divisor is zero or below the least value of the rule. A rule is not judged if fewer
-- than half of its minutes were sampled.
create or replace function alert.violations(p_setup text, p_at timestamptz)
returns table (rule text, judged boolean, labels jsonb, value float8)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_rule alert.rule_in_force;
  v_sampled int;
begin
  for v_rule in select r.* from alert.rule_in_force r where r.setup = p_setup and r.enabled order by r.rule loop
    v_sampled := (select count(*) from history.sample s
                   where s.setup = p_setup and s.step = '1 minute' and s.at > p_at - v_rule.over and s.at <= p_at);
    if v_sampled * interval '2 minutes' < v_rule.over then
      return query select v_rule.rule, false, null::jsonb, null::float8;
      continue;
    end if;
    return query
      with part as (
        select m.label, m.value
          from alert.measured(p_setup, p_at, v_rule.figure, v_rule.labels, v_rule.by_label, v_rule.over) m
      ), whole as (
        select m.label, m.value
          from alert.measured(p_setup, p_at, v_rule.per_figure, v_rule.per_labels, v_rule.by_label, v_rule.over) m
         where v_rule.per_figure is not null
      ), found as (
        select p.label, p.value as part, 1::float8 as whole from part p where v_rule.per_figure is null
         union all
        select w.label, coalesce(p.value, 0), w.value from whole w left join part p on p.label = w.label
      )
      select v_rule.rule, true,
             case when v_rule.by_label is null then jsonb '{}' else jsonb_build_object(v_rule.by_label, f.label) end,
             f.part / f.whole
        from found f
       where alert.is_beyond(v_rule, f.part, f.whole);
  end loop;
end $$;

comment on function alert.violations(text, timestamptz) is
  'The values of labels for which the conditions of a setup''s rules hold in a minute, with the figures; judged is '
  'false for a rule for which too few minutes were sampled.';
