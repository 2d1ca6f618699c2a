-- See analysis-throttles.md, user-cap. Jobs of a group count by its name, and from activated on not for their user.
-- What waits is queued, throttled jobs too; of the labels that the caps are for.
create or replace view workload.account_job as
select a.setup, a.kind, a.name, a.running_jobs, a.queued_jobs, a.running_cores, a.queued_cores
  from resource.account a
union all
select c.setup, 'user', c.user_name,
       case when c.status = 'running' then c.jobs else 0 end, case when c.status <> 'running' then c.jobs else 0 end,
       case when c.status = 'running' then c.cores else 0 end, case when c.status <> 'running' then c.cores else 0 end
  from workload.job_by_user c
 where c.label in ('user', 'panda')
   and (c.status in ('throttled', 'defined', 'assigned')
        or c.status in ('activated', 'starting', 'running') and nullif(c.working_group, '') is null)
union all
select c.setup, 'group', c.working_group,
       case when c.status = 'running' then c.jobs else 0 end, case when c.status <> 'running' then c.jobs else 0 end,
       case when c.status = 'running' then c.cores else 0 end, case when c.status <> 'running' then c.cores else 0 end
  from workload.job_by_user c
 where c.label in ('user', 'panda') and c.working_group <> ''
   and c.status in ('throttled', 'defined', 'assigned', 'activated', 'starting', 'running');

comment on view workload.account_job is
  'Jobs and cores that users and working groups of analysis have: the figures of resource.account, '
  'and the jobs of this database. Several rows a key, to be summed.';
comment on column workload.account_job.running_jobs is 'Running jobs; sum them.';
comment on column workload.account_job.queued_jobs is
  'Throttled, defined, assigned, activated and starting jobs; sum them.';
comment on column workload.account_job.running_cores is 'Cores of the running jobs; sum them.';
comment on column workload.account_job.queued_cores is 'Cores of the queued jobs; sum them.';
