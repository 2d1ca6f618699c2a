-- See analysis-load.md, closed-jobs. Loaded rows are assumed to lie within the time that counts.
create or replace view workload.task_outcome as
select r.setup, r.task_id, r.queue, 'infinity'::timestamptz as minute, r.failed, r.closed, r.finished
  from workload.task_result r
union all
select e.setup, e.task_id, e.queue, e.minute,
       case when e.status = 'failed' then e.jobs else 0 end,
       case when e.status = 'closed' then e.jobs else 0 end,
       case when e.status = 'finished' then e.jobs else 0 end
  from workload.job_end e
 where e.queue is not null and e.status in ('failed', 'closed', 'finished');

comment on view workload.task_outcome is
  'Ended jobs of tasks at queues, by outcome: the rows of workload.task_result, and the jobs of this database by '
  'minute. A key may have several rows; sum them over the minutes that count (TW_DONE_JOB_STAT).';
comment on column workload.task_outcome.queue is 'Unified queue.';
comment on column workload.task_outcome.minute is
  'Beginning of the minute in which the jobs ended; infinity = a loaded row, which always counts.';
comment on column workload.task_outcome.failed is 'Failed jobs; sum the rows.';
comment on column workload.task_outcome.closed is 'Closed jobs; sum the rows.';
comment on column workload.task_outcome.finished is 'Finished jobs; sum the rows.';
