-- STATES.md, From task to TaskQueue. The counts name the tasks that have defined jobs, so that assigned jobs, of which
-- a million may wait for their input, are not read.
create or replace function lifecycle.defined_jobs(p_setup text, p_limit int) returns table (job_id bigint)
language sql stable rows 1000 set jit = off set enable_nestloop = off set enable_sort = off set work_mem = '64MB'
set plan_cache_mode = force_custom_plan as $$
  with task as materialized (
    select c.task_id
      from workload.job_by_task c
     where c.setup = p_setup and c.status = 'defined'
     group by c.task_id
    having sum(c.jobs) > 0
  )
  select d.job_id
    from (
      select j.job_id
        from task t
       cross join lateral (
         select k.job_id
           from workload.job k
          where k.setup = p_setup and k.task_id = t.task_id and k.activated is null and k.ended is null
            and k.status = 'defined' and k.queue is not null
         offset 0) j
      union all
      select k.job_id
        from workload.job k
       where k.setup = p_setup and k.task_id is null and k.activated is null and k.ended is null
         and k.status = 'defined' and k.queue is not null) d
   order by d.job_id
   limit p_limit
$$;

comment on function lifecycle.defined_jobs(text, int) is 'Defined jobs that have a queue, the oldest first.';
