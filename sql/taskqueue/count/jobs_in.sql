create or replace function taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) returns bigint
language sql stable as $$
  select coalesce(sum(l.jobs), 0)::bigint from taskqueue.job_level(p_setup, p_task_queue_id) l
$$;

comment on function taskqueue.jobs_in(text, bigint) is 'Waiting jobs of a TaskQueue that are not held.';
