-- See STATES.md, Statistics. The view looks back as far as TW_DONE_JOB_STAT says.
create or replace view workload.job_end as
select b.setup, b.task_id, b.queue, b.status, b.minute, b.jobs
  from workload.end_count b
union all
select c.setup, c.task_id, c.queue, c.to_status, date_trunc('minute', c.at, 'utc'), c.jobs
  from workload.job_change c where c.task_id is not null and c.from_status is not null and workload.is_end(c.to_status);

comment on view workload.job_end is
  'Jobs that ended, by task, queue, status and minute. A key may have several rows; sum them.';
comment on column workload.job_end.jobs is 'Number of jobs; sum the rows.';
