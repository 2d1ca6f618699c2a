-- See conventions.md, Job counts. The view has a column for each status, and a row for each queue and share.
create or replace view workload.job_count as
select s.setup, s.queue, s.gshare,
       coalesce(sum(s.njobs) filter (where s.status = 'defined'), 0)::bigint as defined,
       coalesce(sum(s.njobs) filter (where s.status = 'assigned'), 0)::bigint as assigned,
       coalesce(sum(s.njobs) filter (where s.status = 'activated'), 0)::bigint as activated,
       coalesce(sum(s.njobs) filter (where s.status = 'starting'), 0)::bigint as starting,
       coalesce(sum(s.njobs) filter (where s.status = 'running'), 0)::bigint as running,
       coalesce(sum(s.njobs) filter (where s.status = 'transferring'), 0)::bigint as transferring,
       sum(s.diskio * s.njobs) filter (where s.status = 'running') as diskio,
       sum(s.njobs) filter (where s.status = 'running' and s.diskio is not null) as diskio_jobs
  from workload.job_statistic s
 group by s.setup, s.queue, s.gshare;

comment on view workload.job_count is
  'Jobs by unified queue and global share (null = jobs without a share), in the statuses that brokerage reads.';
comment on column workload.job_count.defined is 'Defined jobs.';
comment on column workload.job_count.assigned is 'Assigned jobs.';
comment on column workload.job_count.activated is 'Activated jobs.';
comment on column workload.job_count.starting is 'Starting jobs.';
comment on column workload.job_count.running is 'Running jobs.';
comment on column workload.job_count.transferring is 'Transferring jobs.';
comment on column workload.job_count.diskio is
  'Sum of the diskIO of the running jobs that have such a value (kB/s per core).';
comment on column workload.job_count.diskio_jobs is 'Number of running jobs that have a value of diskIO.';
