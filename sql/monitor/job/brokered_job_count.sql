-- The view reads stored counts, so it is cheap for any number of jobs.
create or replace view monitor.brokered_job_count as
select c.setup, c.task_id, c.status, sum(c.jobs)::bigint as jobs, sum(c.cores)::bigint as cores
  from workload.job_by_task c
 where (c.setup = (select resource.bound_setup())) is not false
 group by c.setup, c.task_id, c.status
having sum(c.jobs) <> 0;

comment on view monitor.brokered_job_count is
  'Jobs of tasks by task and status, including ended jobs: the progress of each task.';
comment on column monitor.brokered_job_count.jobs is 'Number of jobs.';
comment on column monitor.brokered_job_count.cores is 'Cores of these jobs.';
