-- Calls that name no broker use the broker that works on the task now, else the broker of its label. A production task
-- that waits for a nucleus belongs to the task broker, any other production task to the job broker.
create or replace function brokerage.algorithm_of(p_setup text, p_task_id bigint) returns text
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
begin
  perform brokerage.require_tasks(p_setup, array[p_task_id]);
  return (
    select t.algorithm from brokerage.task_due_state t
     where t.setup = p_setup and t.task_id = p_task_id
     order by t.not_open is not null, not t.of_label, t.algorithm limit 1);
end $$;

comment on function brokerage.algorithm_of(text, bigint) is
  'The broker that has a task now: production_task, production_job or analysis_job. '
  'Errors: PB001, PB002, PB004 (no such task).';
