-- The commands evaluate, what-if and explain need one decision about one task that leaves the state of the task as it
-- is.
create or replace function brokerage.evaluate_task(
  p_setup text, p_task_id bigint, p_algorithm text default null, p_profile text default null
) returns jsonb
language plpgsql
security definer
set search_path = brokerage, pg_temp
set jit = off set enable_mergejoin = off set enable_memoize = off set cursor_tuple_fraction = 1 set work_mem = '64MB'
as $$
declare
  v_run brokerage.run;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  if not exists (select from workload.task t where t.setup = p_setup and t.task_id = p_task_id) then
    raise exception 'task % does not exist', coalesce(p_task_id::text, 'null')
      using errcode = 'PB004', hint = 'Load it with its world, or name another task.';
  end if;
  v_run := brokerage.begin_run(p_setup, coalesce(p_algorithm, brokerage.algorithm_of(p_setup, p_task_id)),
                               p_profile, null, true);
  perform brokerage.decide(v_run, brokerage.rules_of_run(v_run), array[p_task_id],
                           brokerage.facts_of_candidates(p_setup, v_run.algorithm));
  update brokerage.run r
     set ended_at = resource.clock(p_setup), tasks = 1
   where r.setup = p_setup and r.run_id = v_run.run_id;
  return brokerage.answer(p_setup, v_run.run_id, p_task_id);
end $$;

comment on function brokerage.evaluate_task(text, bigint, text, text) is
  'Decides about one task now, without changing the task, and returns the decision (brokerage.answer), which is stored '
  'as a dry run. Without p_algorithm the broker that has the task decides (brokerage.algorithm_of). Errors: PB001 (no '
  'such setup or profile), PB002, PB004 (no such task).';
