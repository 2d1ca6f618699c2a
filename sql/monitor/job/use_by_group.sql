-- A look-up of each end in the history costs ten microseconds, so only the newest ends are looked up.
create or replace view monitor.use_by_group as
select t.setup, r.owner_group, m.measure, m.unit, count(*) as jobs,
       percentile_cont(0.5) within group (order by m.request) as request,
       percentile_cont(0.5) within group (order by m.used) as median, max(m.used) as most,
       avg((m.used > m.request)::int)::float8 as above, min(r.at) as since
  from resource.setup_time t
 cross join lateral (
   select h.at, d.owner_group, (d.requirements ->> 'MinRAM')::float8 as min_ram,
          (d.requirements ->> 'CPUTime')::float8 as cpu_time, h.cpu_used, h.wall_used, h.ram_used
     from (select e.job_id, e.ended_at, e.outcome from taskqueue.ended e
            where e.setup = t.setup order by e.ended_at desc limit 10000) e
    cross join lateral (select i.* from taskqueue.history i
                         where i.setup = t.setup and i.job_id = e.job_id and i.at = e.ended_at
                           and i.event = e.outcome limit 1) h
     join taskqueue.kept_definition d on d.setup = t.setup and d.definition_id = h.definition_id) r
 cross join lateral (values ('memory', 'MB', r.min_ram, r.ram_used::float8),
                            ('CPU time', 's', r.cpu_time, r.cpu_used::float8),
                            ('wall time', 's', null, r.wall_used::float8)) m (measure, unit, request, used)
 where m.used is not null and (t.setup = (select resource.bound_setup())) is not false
 group by t.setup, r.owner_group, m.measure, m.unit;

comment on view monitor.use_by_group is
  'Memory and time that jobs of TaskQueues used, beside their requirements, by owner group: the newest 10,000 ended '
  'jobs of a setup, as far as their agents reported. Restrict the setup.';
comment on column monitor.use_by_group.owner_group is 'Owner group of the jobs.';
comment on column monitor.use_by_group.measure is 'memory, CPU time or wall time.';
comment on column monitor.use_by_group.unit is 'Unit of the values: MB, or s (seconds).';
comment on column monitor.use_by_group.jobs is 'Number of ended jobs whose use is known.';
comment on column monitor.use_by_group.request is
  'Median of the requirement: MinRAM, or CPUTime as its bucket; null = these jobs require none.';
comment on column monitor.use_by_group.median is 'Median of the use; CPU time is that of all processors.';
comment on column monitor.use_by_group.most is 'Largest use.';
comment on column monitor.use_by_group.above is
  'Fraction of the jobs with a requirement that used more than it; null = these jobs require none.';
comment on column monitor.use_by_group.since is 'When the first of these jobs ended.';
