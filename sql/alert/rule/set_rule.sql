-- Columns that are not given keep the values that hold now, so a shipped rule is switched off with {"enabled": false}.
create or replace function alert.set_rule(p_setup text, p_rule text, p_changes jsonb) returns void
language plpgsql security definer set search_path = alert, pg_temp as $$
declare
  v_column text;
  v_constraint text;
  v_row alert.rule;
  v_near text;  -- a known rule, if this one is new
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  -- two callers change different columns of one rule
  perform pg_advisory_xact_lock(hashtext('alert.set_rule'), hashtext(p_setup));
  p_changes := resource.check_settings('alert.rule', p_changes)
               || resource.check_settings('alert.rule', jsonb_build_object('rule', p_rule));
  v_row := jsonb_populate_record(null::alert.rule, jsonb_build_object(
    'setup', p_setup, 'enabled', true, 'labels', jsonb '{}', 'per_labels', jsonb '{}', 'per_least', 0,
    'over', '1 minute', 'lasting', '0', 'severity', 'warning'
  ) || coalesce((select to_jsonb(r) - 'origin' - 'condition'
                   from alert.rule_in_force r where r.setup = p_setup and r.rule = p_rule), '{}') || p_changes);
  if p_changes ->> 'above' is not null and not p_changes ? 'below' then
    v_row.below := null;
  elsif p_changes ->> 'below' is not null and not p_changes ? 'above' then
    v_row.above := null;
  end if;
  perform alert.require_rule(v_row);
  insert into alert.rule select v_row.*
      on conflict (setup, rule) do update
     set (enabled, figure, labels, by_label, per_figure, per_labels, per_least, above, below, over, lasting, severity,
          summary) = (select v_row.enabled, v_row.figure, v_row.labels, v_row.by_label, v_row.per_figure,
                             v_row.per_labels, v_row.per_least, v_row.above, v_row.below, v_row.over, v_row.lasting,
                             v_row.severity, v_row.summary);
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_column = column_name, v_constraint = constraint_name;
    v_near := (select resource.nearest_name(p_rule, array_agg(r.rule)) from alert.rule_in_force r
                where r.setup = p_setup having bool_and(r.rule <> p_rule));
    raise exception 'rule % %', p_rule, resource.violation_of('alert.rule', v_column, v_constraint, sqlerrm)
      using errcode = 'PB001',
            hint = coalesce('The rule nearest to it is ' || v_near || '. ', '')
                   || 'A rule needs figure, summary, and above or below: {"figure": "jobs_waiting", "above": 100000, '
                      '"summary": "{value} jobs wait"}.';
end $$;

comment on function alert.set_rule(text, text, jsonb) is
  'Adds a rule for alerts, or changes one. The argument is an object of columns of alert.rule; columns that are not '
  'given keep their values. A rule that comes with the program can be changed, or switched off with {"enabled": '
  'false}. Times are texts such as "2 hours", or numbers of seconds. Errors: PB001 (a key or a value that does not '
  'fit), PB002 (setup not granted).';
