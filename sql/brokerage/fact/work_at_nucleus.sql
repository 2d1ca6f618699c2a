-- task-weights.md, Remaining work: the work that was loaded with the world, and the work of tasks that were assigned
-- within assignments_count (brokerage.setting_in_force), in this batch or earlier.
create or replace view brokerage.work_at_nucleus as
select w.setup, w.nucleus, w.gshare, w.priority, w.work from workload.remaining_work w
union all
select a.setup, a.nucleus, g.gshare, g.priority, a.work
  from brokerage.setting_in_force s
 cross join lateral (select resource.clock(s.setup) - s.assignments_count as since offset 0) t
  join brokerage.nucleus_assignment a on a.setup = s.setup and a.assigned_at > t.since
 cross join lateral (values (a.gshare, a.priority), ('', 0)) g(gshare, priority);

comment on view brokerage.work_at_nucleus is
  'Work that is left at nuclei, including tasks assigned lately; RW is its sum by nucleus and share over tasks with at '
  'least a given priority.';
comment on column brokerage.work_at_nucleus.gshare is 'Global share; empty for the work of all shares.';
comment on column brokerage.work_at_nucleus.priority is 'Priority of the tasks.';
comment on column brokerage.work_at_nucleus.work is 'Work (HS06 s).';
