-- See worlds.md, Sections. Counts kept elsewhere (section statistics) are added to those of the jobs in this database.
create or replace view workload.job_statistic as
select s.setup, s.queue, s.gshare, s.resource_type, s.nucleus, s.label, s.status, s.njobs, s.ncores, s.diskio
  from workload.statistic s
union all
select c.setup, c.queue, c.gshare, c.resource_type, c.nucleus, c.label, c.status, sum(c.jobs)::bigint,
       sum(c.cores)::bigint, (sum(c.disk_io) / nullif(sum(c.disk_io_jobs), 0))::float8
  from workload.job_by_queue c
 where c.queue is not null
 group by c.setup, c.queue, c.gshare, c.resource_type, c.nucleus, c.label, c.status
having sum(c.jobs) <> 0;

comment on view workload.job_statistic is
  'Jobs counted by queue, share, resource type, nucleus, label and status: the rows of workload.statistic, and the '
  'jobs of this database that have not ended. A key may have several rows; sum them.';
comment on column workload.job_statistic.ncores is 'Cores; null = not known.';
comment on column workload.job_statistic.diskio is 'Mean diskIO of running jobs (kB/s per core); null = not known.';
