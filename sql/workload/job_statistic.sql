-- World format: counts kept elsewhere (section statistics) add to those of the jobs in this database.
create or replace view workload.job_statistic as
select s.setup, s.queue, s.gshare, s.resource_type, s.nucleus, s.label, s.status, s.njobs, s.ncores, s.diskio
  from workload.statistic s
union all
select j.setup, j.queue, j.gshare, j.resource_type, t.nucleus, j.label, j.status, count(*), sum(j.cores), null::float8
  from workload.job j
  left join workload.task t on t.setup = j.setup and t.task_id = j.task_id
 where j.queue is not null
 group by j.setup, j.queue, j.gshare, j.resource_type, t.nucleus, j.label, j.status;

comment on view workload.job_statistic is
'Jobs counted by queue, share, resource type, nucleus, label and status: the rows of workload.statistic, and the jobs of workload.job. Sum them.';
comment on column workload.job_statistic.setup is 'Tenant.';
comment on column workload.job_statistic.queue is 'Unified queue.';
comment on column workload.job_statistic.gshare is 'Global share.';
comment on column workload.job_statistic.resource_type is 'Resource type.';
comment on column workload.job_statistic.nucleus is 'Nucleus that outputs go to.';
comment on column workload.job_statistic.label is 'prodSourceLabel.';
comment on column workload.job_statistic.status is 'Status of the jobs.';
comment on column workload.job_statistic.njobs is 'Jobs.';
comment on column workload.job_statistic.ncores is 'Cores; null = not known.';
comment on column workload.job_statistic.diskio is 'Mean diskIO of running jobs (kB/s per core); null = not known.';
