-- See STATES.md, Statistics. A job that started twice has only its later start here. Therefore the counts are not
-- replaced by this result; a load (workload.store) adds the difference that it makes.
create or replace function workload.starts_of_jobs(p_setup text, p_job_ids bigint[]) returns setof workload.start_count
language sql stable as $$
  select j.setup, j.queue, j.gshare, j.resource_type, date_trunc('minute', j.started, 'utc'), count(*), max(j.started)
    from workload.job j
   where j.setup = p_setup and j.job_id = any (p_job_ids)
     and j.started >= date_trunc('minute', resource.clock(p_setup) - interval '8 days', 'utc')
   group by j.setup, j.queue, j.gshare, j.resource_type, date_trunc('minute', j.started, 'utc')
$$;

comment on function workload.starts_of_jobs(text, bigint[]) is
  'Times at which these jobs began to run within the last eight days, in the form of workload.start_count.';
