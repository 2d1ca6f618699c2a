-- The end of a job is looked up in the partition of its day.
create or replace view monitor.use_by_task as
select t.setup, t.task_id, r.owner_group, m.measure, m.unit, count(*) as jobs,
       percentile_cont(0.5) within group (order by m.request) as request,
       percentile_cont(0.5) within group (order by m.used) as median, max(m.used) as most,
       avg((m.used > m.request)::int)::float8 as above, min(r.at) as since
  from workload.task t
 cross join lateral (
   select h.at, d.owner_group, (d.requirements ->> 'MinRAM')::float8 as min_ram,
          (d.requirements ->> 'CPUTime')::float8 as cpu_time, h.cpu_used, h.wall_used, h.ram_used
     from (select j.job_id, j.status, j.ended from workload.job j
            where j.setup = t.setup and j.task_id = t.task_id and j.status in ('finished', 'failed')
            order by j.job_id desc limit 1000) j
    cross join lateral (select i.* from taskqueue.history i
                         where i.setup = t.setup and i.job_id = j.job_id
                           and i.at between j.ended - interval '1 minute' and j.ended + interval '1 minute'
                           and i.event = j.status
                         order by i.at desc limit 1) h
     join taskqueue.kept_definition d on d.setup = t.setup and d.definition_id = h.definition_id) r
 cross join lateral (values ('memory', 'MB', r.min_ram, r.ram_used::float8),
                            ('CPU time', 's', r.cpu_time, r.cpu_used::float8),
                            ('wall time', 's', null, r.wall_used::float8)) m (measure, unit, request, used)
 where m.used is not null and (t.setup = (select resource.bound_setup())) is not false
 group by t.setup, t.task_id, r.owner_group, m.measure, m.unit;

comment on view monitor.use_by_task is
  'Memory and time that the jobs of a task used, beside their requirements: its newest 1,000 finished and failed jobs, '
  'as far as their agents reported. Restrict the setup and the task.';
comment on column monitor.use_by_task.owner_group is 'Owner group of the jobs: the global share of the task.';
comment on column monitor.use_by_task.measure is 'memory, CPU time or wall time.';
comment on column monitor.use_by_task.unit is 'Unit of the values: MB, or s (seconds).';
comment on column monitor.use_by_task.jobs is 'Number of ended jobs whose use is known.';
comment on column monitor.use_by_task.request is
  'Median of the requirement: MinRAM, or CPUTime as its bucket; null = these jobs require none.';
comment on column monitor.use_by_task.median is 'Median of the use; CPU time is that of all processors.';
comment on column monitor.use_by_task.most is 'Largest use.';
comment on column monitor.use_by_task.above is
  'Fraction of the jobs with a requirement that used more than it; null = these jobs require none.';
comment on column monitor.use_by_task.since is 'When the first of these jobs ended.';
