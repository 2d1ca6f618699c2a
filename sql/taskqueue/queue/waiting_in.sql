-- The schema instance uses this; the planner inlines it.
create or replace function taskqueue.waiting_in(p_setup text, p_task_queue_id bigint)
returns table (job_id bigint, brokered boolean)
language sql stable as $$
  select j.job_id, j.brokered
    from taskqueue.job j
   where j.setup = p_setup and j.task_queue_id = p_task_queue_id and not j.held
$$;

comment on function taskqueue.waiting_in(text, bigint) is
  'Jobs of a TaskQueue that wait and are not held, and whether brokerage made them.';
