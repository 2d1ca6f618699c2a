-- RETRIES.md: a retry of a part makes a job with a new id, so failures count for the part.
create or replace function workload.note_failures(p_setup text, p_job_ids bigint[])
returns table (job_id bigint, failures int, task_id bigint, max_attempt int)
language sql as $$
  with failed as materialized (
    select j.job_id, j.task_id, j.number from workload.job j
     where j.setup = p_setup and j.job_id = any (p_job_ids) and j.number is not null and j.rebrokered = 0
  ), noted as (
    insert into workload.failed_part as p (setup, task_id, number, failures)
    select p_setup, f.task_id, f.number, 1 from failed f order by f.task_id, f.number
    on conflict (setup, task_id, number) do update set failures = least(p.failures + 1, 32767)
    returning p.task_id, p.number, p.failures
  )
  select f.job_id, n.failures, f.task_id, t.max_attempt
    from failed f
    join noted n using (task_id, number)
    left join workload.task t on t.setup = p_setup and t.task_id = f.task_id
$$;

comment on function workload.note_failures(text, bigint[]) is
  'Counts failed ends of jobs for their parts of the input; returns the failed ends of the part, the task, and its '
  'max_attempt, by job. Jobs that own no part are left out.';
