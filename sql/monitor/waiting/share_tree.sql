-- The shares as people ask for them: who is behind.
create or replace view monitor.share_tree as
select s.setup, t.gshare, t.parent, t.path, t.depth, t.is_leaf, t.target, t.target_of_parent, t.target_of_whole,
       t.pledged, t.running, t.queued, t.usage_of_parent,
       t.usage_of_whole, t.usage, t.distance, t.behind, t.source, t.measured, t.problem
  from resource.setup s
 cross join lateral lifecycle.share_tree(s.setup) t
 where (s.setup = (select resource.bound_setup())) is not false;

comment on view monitor.share_tree is
  'The tree of global shares with targets, usage now, and which leaf is furthest behind. Fractions, not percent; HS06.';
comment on column monitor.share_tree.gshare is 'Global share.';
comment on column monitor.share_tree.parent is 'Share that it is part of, as said; null = none.';
comment on column monitor.share_tree.path is 'Shares from the top down to it.';
comment on column monitor.share_tree.depth is 'Its level, from 1.';
comment on column monitor.share_tree.is_leaf is 'It has no parts: jobs are of leaves.';
comment on column monitor.share_tree.target is
  'Target as said, in whatever unit: it counts against its siblings''; missing or negative = 0.';
comment on column monitor.share_tree.target_of_parent is 'Its part of the targets of its siblings and itself.';
comment on column monitor.share_tree.target_of_whole is 'The product of that from the top down.';
comment on column monitor.share_tree.pledged is 'That part of all that runs (HS06).';
comment on column monitor.share_tree.running is 'Running, with its parts (HS06).';
comment on column monitor.share_tree.queued is 'Queued, with its parts (HS06).';
comment on column monitor.share_tree.usage_of_parent is 'Its part of what runs of its siblings and itself.';
comment on column monitor.share_tree.usage_of_whole is 'Its part of all that runs.';
comment on column monitor.share_tree.usage is
  'Running / pledged, PanDA''s usage; 0 = nothing runs, 999999 = something runs and the target is 0.';
comment on column monitor.share_tree.distance is 'target_of_whole less usage_of_whole; positive = behind.';
comment on column monitor.share_tree.behind is
  'Order of the leaves, 1 = PanDA would take its jobs next: at each level the share with the largest '
  'distance goes first.';
comment on column monitor.share_tree.source is
  'jobs = counted now from the jobs here and the counts kept elsewhere; loaded = the figures of resource.share.';
comment on column monitor.share_tree.measured is
  'When the figures that brokerage reads were measured; null = they hold as they are.';
comment on column monitor.share_tree.problem is 'Why it stands at the top although it has a parent; null = no problem.';
