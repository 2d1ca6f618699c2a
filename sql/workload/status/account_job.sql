-- See analysis-throttles.md, user-cap. Jobs of a group count under its name; from activated on they do not count for
-- their user. Waiting jobs, including throttled ones, count as queued. Only labels to which the caps apply are counted.
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
  'Jobs and cores of users and working groups of analysis: the numbers of resource.account, and the jobs of this '
  'database. A key may have several rows; sum them.';
comment on column workload.account_job.running_jobs is 'Running jobs; sum the rows.';
comment on column workload.account_job.queued_jobs is
  'Throttled, defined, assigned, activated and starting jobs; sum the rows.';
comment on column workload.account_job.running_cores is 'Cores of the running jobs; sum the rows.';
comment on column workload.account_job.queued_cores is 'Cores of the queued jobs; sum the rows.';
