-- RETRIES.md.
create or replace function taskqueue.read_retry_rules(p_setup text, p_rows jsonb) returns taskqueue.retry_rule[]
language plpgsql as $$
declare
  v_row record;
  v_problem text;
  v_rules taskqueue.retry_rule[] := array[]::taskqueue.retry_rule[];
begin
  perform taskqueue.require_within(p_setup, 'batch_size', 'list of retry rules', taskqueue.json_size(p_rows));
  perform resource.check_keys('retry rule', p_rows, '{"position": "an integer of 32 bits", "name": "a text",
    "classes": "an array of texts", "source": "a text", "code_from": "an integer of 32 bits",
    "code_to": "an integer of 32 bits", "pattern": "a text", "sites": "an array of texts",
    "owner_groups": "an array of texts", "job_types": "an array of texts", "failures_from": "an integer of 16 bits",
    "failures_to": "an integer of 16 bits", "decision": "a text", "delay": "a number", "memory_factor": "a number",
    "time_factor": "a number", "elsewhere": "a text", "less_input": "true or false", "passive": "true or false"}');
  if jsonb_array_length(p_rows) > 100 then
    raise exception '% retry rules', jsonb_array_length(p_rows)
      using errcode = 'PB001', hint = 'A setup has at most 100 retry rules.';
  end if;
  for v_row in
    select r.*, e.n, coalesce(r.failures_from, 1) as lowest, count(*) over (partition by r.position) as same,
           count(*) over (partition by r.name) as namesakes
      from jsonb_array_elements(p_rows) with ordinality e (row, n)
     cross join lateral jsonb_to_record(e.row) as r (
             position numeric, name text, classes text[], source text, code_from numeric, code_to numeric, pattern text,
             sites text[], owner_groups text[], job_types text[], failures_from numeric, failures_to numeric,
             decision text, delay numeric, memory_factor numeric, time_factor numeric, elsewhere text,
             less_input boolean, passive boolean)
     order by e.n
  loop
    v_problem := case
      when v_row.position is null then 'position is null'
      when v_row.same > 1 then 'the position is given twice'
      when v_row.name ~ '^[a-z0-9][a-z0-9_.-]{0,49}$' is not true
      then format('name is %s, not 1 to 50 of a-z, 0-9, _, . and -',
                  coalesce(resource.shown(to_jsonb(v_row.name)), 'null'))
      when v_row.namesakes > 1 then format('the name %s is given twice', v_row.name)
      when v_row.decision in ('fail', 'retry', 'later') is not true
      then format('decision is %s, not fail, retry or later',
                  coalesce(resource.shown(to_jsonb(v_row.decision)), 'null'))
      when v_row.delay is not null and v_row.decision <> 'later'
      then format('delay is %s, but decision is %s, not later', v_row.delay, v_row.decision)
      when v_row.delay not between 1 and 2592000
      then format('delay is %s, not within 1 and 2592000 seconds', v_row.delay)
      when v_row.lowest < 1 then format('failures_from is %s, not at least 1', v_row.lowest)
      when v_row.lowest > v_row.failures_to
      then format('failures_from is %s, more than failures_to %s', v_row.lowest, v_row.failures_to)
      else coalesce(
        taskqueue.error_test_fault(v_row.source, v_row.code_from::int, v_row.code_to::int, v_row.pattern),
        taskqueue.rule_changes_fault(p_rows -> (v_row.n - 1)::int),
        taskqueue.rule_lists_fault(p_setup, p_rows -> (v_row.n - 1)::int))
      end;
    if v_problem is not null then
      raise exception 'retry rule %: %', coalesce('at position ' || v_row.position::int, 'number ' || v_row.n),
        v_problem
        using errcode = 'PB001',
              hint = 'A rule is {"position": 10, "name": "lost", "classes": ["lost"], "failures_to": 3, "decision": '
                     '"later", "delay": 900}. Positions and names are there once; delay is in seconds.';
    end if;
    v_rules := v_rules || row(
      p_setup, v_row.position, v_row.name, v_row.classes, v_row.source, v_row.code_from, v_row.code_to, v_row.pattern,
      v_row.sites, v_row.owner_groups, v_row.job_types, v_row.lowest, v_row.failures_to, v_row.decision,
      case when v_row.decision = 'later' then make_interval(secs => coalesce(v_row.delay, 900)::float8) end,
      v_row.memory_factor, v_row.time_factor, v_row.elsewhere, coalesce(v_row.less_input, false),
      coalesce(v_row.passive, false))::taskqueue.retry_rule;
  end loop;
  return v_rules;
end $$;

comment on function taskqueue.read_retry_rules(text, jsonb) is
  'The retry rules of an array, as set_retry_rules takes it. Nothing is stored. Errors: PB001.';
