-- See STATES.md, Statistics. One statement reads the counts and the changes, so the view is exact at every commit.
create or replace view workload.job_by_user as
select b.setup, b.user_name, b.working_group, b.queue, b.gshare, b.label, b.processing_type, b.status, b.jobs, b.cores
  from workload.user_count b
union all
select c.setup, c.user_name, c.working_group, c.queue, c.gshare, c.label, c.processing_type, c.from_status, -c.jobs,
       -c.cores
  from workload.job_change c where c.from_status is not null and not workload.is_end(c.from_status)
union all
select c.setup, c.user_name, c.working_group, c.queue, c.gshare, c.label, c.processing_type, c.to_status, c.jobs,
       c.cores
  from workload.job_change c where c.to_status is not null and not workload.is_end(c.to_status);

comment on view workload.job_by_user is
  'Jobs that have not ended by user, working group, queue, share, label, processingType and status. A key may have '
  'several rows; sum them.';
comment on column workload.job_by_user.jobs is 'Number of jobs; sum the rows.';
comment on column workload.job_by_user.cores is 'Cores of these jobs; sum the rows.';
