-- The timeouts of the setup are judged once before the row is kept, so a condition that cannot be called is refused.
create or replace function lifecycle.set_timeout(p_setup text, p_rule text, p_changes jsonb) returns void
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_column text;
  v_constraint text;
  v_row lifecycle.own_timeout;
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  -- two callers change different columns of one timeout
  perform pg_advisory_xact_lock(hashtext('lifecycle.set_timeout'), hashtext(p_setup));
  if exists (select from lifecycle.timeout_rule r where r.rule = p_rule) then
    raise exception 'timeout % comes with the program', p_rule
      using errcode = 'PB001', hint = 'Give your timeout a name of its own; lifecycle.timeout_rule has those taken.';
  end if;
  p_changes := resource.check_settings('lifecycle.own_timeout', p_changes)
               || resource.check_settings('lifecycle.own_timeout', jsonb_build_object('rule', p_rule));
  select t.* into v_row from lifecycle.own_timeout t where t.setup = p_setup and t.rule = p_rule;
  v_row := jsonb_populate_record(v_row, jsonb_build_object(
    'setup', p_setup, 'conditions', coalesce(v_row.conditions, '{}'), 'skipped_at', coalesce(v_row.skipped_at, '{}')
  ) || p_changes);
  delete from lifecycle.own_timeout t where t.setup = p_setup and t.rule = p_rule;
  insert into lifecycle.own_timeout select v_row.*;
  perform from lifecycle.judge_timeouts(p_setup, '{}', true);
exception
  when check_violation or not_null_violation or unique_violation then
    get stacked diagnostics v_column = column_name, v_constraint = constraint_name;
    raise exception 'timeout % %', p_rule,
      case when v_constraint like '%position%' then format('is at position %s, as another timeout', v_row.position)
           else resource.violation_of('lifecycle.own_timeout', v_column, v_constraint, sqlerrm) end
      using errcode = 'PB001',
            hint = 'A timeout needs position, statuses, clock, action, and a key or a constant: '
                   '{"position": 45, "statuses": ["assigned"], "clock": "created", "constant": "2 days", '
                   '"action": "rebroker"}.';
end $$;

comment on function lifecycle.set_timeout(text, text, jsonb) is
  'Adds a timeout of the setup''s own, or changes one, by an object of columns of lifecycle.own_timeout; columns that '
  'are not given stay. Times are texts such as "2 days", or numbers of seconds. Errors: PB001 (a key, a value or a '
  'condition that does not fit), PB002 (setup not granted, or the owner of a condition is not trusted).';
