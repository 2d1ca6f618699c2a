-- See STATES.md, Statistics. One statement reads the counts and the changes, so the view is exact at every commit.
create or replace view workload.job_by_queue as
select b.setup, b.queue, b.gshare, b.resource_type, b.nucleus, b.label, b.status, b.jobs, b.cores, b.disk_io,
       b.disk_io_jobs
  from workload.queue_count b
union all
select c.setup, c.queue, c.gshare, c.resource_type, c.nucleus, c.label, c.from_status, -c.jobs, -c.cores,
       -coalesce(c.disk_io, 0), -c.disk_io_jobs
  from workload.job_change c where c.from_status is not null and not workload.is_end(c.from_status)
union all
select c.setup, c.queue, c.gshare, c.resource_type, c.nucleus, c.label, c.to_status, c.jobs, c.cores,
       coalesce(c.disk_io, 0), c.disk_io_jobs
  from workload.job_change c where c.to_status is not null and not workload.is_end(c.to_status);

comment on view workload.job_by_queue is
  'Jobs that have not ended by queue, share, resource type, nucleus, label and status. A key may have several rows; '
  'sum them.';
comment on column workload.job_by_queue.jobs is 'Number of jobs; sum the rows.';
comment on column workload.job_by_queue.cores is 'Cores of these jobs; sum the rows.';
