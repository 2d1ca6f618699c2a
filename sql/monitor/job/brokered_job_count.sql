-- The counts that are kept, for people: cheap however many jobs there are.
create or replace view monitor.brokered_job_count as
select c.setup, c.task_id, c.status, sum(c.jobs)::bigint as jobs, sum(c.cores)::bigint as cores
  from workload.job_by_task c
 where (c.setup = (select resource.bound_setup())) is not false
 group by c.setup, c.task_id, c.status
having sum(c.jobs) <> 0;

comment on view monitor.brokered_job_count is
  'Jobs of tasks by task and status, ended ones among them: how far each task is.';
comment on column monitor.brokered_job_count.jobs is 'Jobs.';
comment on column monitor.brokered_job_count.cores is 'Cores of them.';
