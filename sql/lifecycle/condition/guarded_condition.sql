-- TIMEOUTS.md, Timeouts of your own: a condition of an organisation may fail for a job that its author did not foresee.
-- Then its timeout does not apply to this job, and the other jobs and timeouts are judged as before.
create or replace function lifecycle.guarded_condition(p_call text, p_facts lifecycle.timeout_facts) returns text
language plpgsql stable as $$
declare
  v_obstacle text;
begin
  execute format('select %s($1)', p_call) into v_obstacle using p_facts;
  return v_obstacle;
exception when others then
  return format('the condition %s failed: %s', p_call, sqlerrm);
end $$;

comment on function lifecycle.guarded_condition(text, lifecycle.timeout_facts) is
  'The verdict of a condition, given by the quoted name of its function, on a job: null if it holds, otherwise the '
  'reason why it does not hold, or its error.';
