-- See STATES.md, Statistics, and workload.starts_of_jobs.
create or replace function workload.ends_of_jobs(p_setup text, p_job_ids bigint[]) returns setof workload.end_count
language sql stable as $$
  select j.setup, j.task_id, j.queue, j.status, date_trunc('minute', j.ended, 'utc'), count(*)
    from workload.job j
   where j.setup = p_setup and j.job_id = any (p_job_ids)
     and j.ended >= date_trunc('minute', resource.clock(p_setup) - interval '8 days', 'utc')
     and j.task_id is not null and workload.is_end(j.status)
   group by j.setup, j.task_id, j.queue, j.status, date_trunc('minute', j.ended, 'utc')
$$;

comment on function workload.ends_of_jobs(text, bigint[]) is
  'Times at which these jobs ended within the last eight days, in the form of workload.end_count.';
