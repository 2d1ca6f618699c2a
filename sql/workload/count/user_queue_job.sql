-- See analysis-load.md, stabilizer. The jobs of this database count from activated on; merge jobs do not count.
create or replace view workload.user_queue_job as
select s.setup, s.queue, s.gshare, s.user_name, null::text as label, s.queued, s.running, s.running_cores
  from workload.user_queue_statistic s
union all
select c.setup, c.queue, c.gshare, c.user_name, c.label,
       case when c.status <> 'running' then c.jobs else 0 end,
       case when c.status = 'running' then c.jobs else 0 end,
       case when c.status = 'running' then c.cores else 0 end
  from workload.job_by_user c
 where c.user_name is not null and c.label is not null and c.status in ('activated', 'starting', 'running')
   and c.processing_type is distinct from 'pmerge';

comment on view workload.user_queue_job is
  'Jobs of users at queues: the rows of workload.user_queue_statistic, and the jobs of this database. A key may have '
  'several rows; sum them.';
comment on column workload.user_queue_job.queue is 'Unified queue.';
comment on column workload.user_queue_job.user_name is
  'User; _total (only in loaded rows) = the sum over all users, if not all are listed.';
comment on column workload.user_queue_job.label is
  'prodSourceLabel of the jobs; null = a loaded row, which holds for every label.';
comment on column workload.user_queue_job.queued is 'Activated and starting jobs; sum the rows.';
comment on column workload.user_queue_job.running is 'Running jobs; sum the rows.';
comment on column workload.user_queue_job.running_cores is
  'Cores of the running jobs; sum the rows; null = not known.';
