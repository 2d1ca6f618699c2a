-- See STATES.md, Statistics. One statement reads the counts and the changes, so the view is exact at every commit.
create or replace view workload.job_by_task as
select b.setup, b.task_id, b.status, b.jobs, b.cores
  from workload.task_count b
union all
select c.setup, c.task_id, c.from_status, -c.jobs, -c.cores
  from workload.job_change c where c.task_id is not null and c.from_status is not null
union all
select c.setup, c.task_id, c.to_status, c.jobs, c.cores
  from workload.job_change c where c.task_id is not null and c.to_status is not null;

comment on view workload.job_by_task is
  'Jobs by task and status, including ended jobs. A key may have several rows; sum them.';
comment on column workload.job_by_task.jobs is 'Number of jobs; sum the rows.';
comment on column workload.job_by_task.cores is 'Cores of these jobs; sum the rows.';
