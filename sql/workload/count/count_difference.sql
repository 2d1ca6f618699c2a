-- One statement compares the counts with a recount; workload.correct_counts adds the differences. The view is empty
-- unless somebody changed jobs without workload.change_status.
create or replace view workload.count_difference as
select d.setup, 'queue' as counted_by, d.queue, d.gshare, d.resource_type, d.nucleus, d.label, null::text as user_name,
       null::text as working_group,
       null::text as processing_type, null::bigint as task_id, d.status, sum(d.jobs)::bigint as jobs,
       sum(d.cores)::bigint as cores, sum(d.disk_io) as disk_io, sum(d.disk_io_jobs)::bigint as disk_io_jobs
  from (select j.setup, j.queue, j.gshare, j.resource_type, j.nucleus, j.label, j.status, 1 as jobs,
               coalesce(j.cores, 1) as cores, coalesce(j.disk_io::numeric, 0) as disk_io,
               (j.disk_io is not null)::int as disk_io_jobs
          from workload.job j where j.ended is null and j.status is not null and not workload.is_end(j.status)
        union all
        select c.setup, c.queue, c.gshare, c.resource_type, c.nucleus, c.label, c.status, -c.jobs, -c.cores, -c.disk_io,
               -c.disk_io_jobs
          from workload.job_by_queue c) d
 where (d.setup = (select resource.bound_setup())) is not false
 group by d.setup, d.queue, d.gshare, d.resource_type, d.nucleus, d.label, d.status
having sum(d.jobs) <> 0 or sum(d.cores) <> 0 or sum(d.disk_io) <> 0 or sum(d.disk_io_jobs) <> 0
union all
select d.setup, 'user', d.queue, d.gshare, null, null, d.label, d.user_name, d.working_group, d.processing_type, null,
       d.status, sum(d.jobs)::bigint, sum(d.cores)::bigint, 0, 0
  from (select j.setup, j.user_name, j.working_group, j.queue, j.gshare, j.label, j.processing_type, j.status,
               1 as jobs, coalesce(j.cores, 1) as cores
          from workload.job j where j.ended is null and j.status is not null and not workload.is_end(j.status)
        union all
        select c.setup, c.user_name, c.working_group, c.queue, c.gshare, c.label, c.processing_type, c.status, -c.jobs,
               -c.cores
          from workload.job_by_user c) d
 where (d.setup = (select resource.bound_setup())) is not false
 group by d.setup, d.queue, d.gshare, d.label, d.user_name, d.working_group, d.processing_type, d.status
having sum(d.jobs) <> 0 or sum(d.cores) <> 0
union all
select d.setup, 'task', null, null, null, null, null, null, null, null, d.task_id, d.status, sum(d.jobs)::bigint,
       sum(d.cores)::bigint, 0, 0
  from (select j.setup, j.task_id, j.status, 1 as jobs, coalesce(j.cores, 1) as cores
          from workload.job j where j.task_id is not null and j.status is not null
        union all
        select c.setup, c.task_id, c.status, -c.jobs, -c.cores from workload.job_by_task c) d
 where (d.setup = (select resource.bound_setup())) is not false
 group by d.setup, d.task_id, d.status
having sum(d.jobs) <> 0 or sum(d.cores) <> 0;

comment on view workload.count_difference is
  'Differences between the counts of jobs and the jobs: the numbers that would have to be added to the counts. Empty '
  'if the counts are right.';
comment on column workload.count_difference.counted_by is 'The kind of count: queue, user or task.';
comment on column workload.count_difference.jobs is 'Jobs missing from the count; negative = the count is too high.';
comment on column workload.count_difference.cores is 'Cores missing from the count; negative = the count is too high.';
