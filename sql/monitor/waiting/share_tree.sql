-- The view shows the global shares, and which of them are behind.
create or replace view monitor.share_tree as
select s.setup, t.gshare, t.parent, t.path, t.depth, t.is_leaf, t.target, t.target_of_parent, t.target_of_whole,
       t.pledged, t.running, t.queued, t.usage_of_parent,
       t.usage_of_whole, t.usage, t.distance, t.behind, t.source, t.measured, t.problem
  from resource.setup s
 cross join lateral lifecycle.share_tree(s.setup) t
 where (s.setup = (select resource.bound_setup())) is not false;

comment on view monitor.share_tree is
  'The tree of global shares with targets, current usage, and the leaf that is furthest behind. Values are fractions, '
  'not percent, or HS06.';
comment on column monitor.share_tree.gshare is 'Global share.';
comment on column monitor.share_tree.parent is 'Share of which this share is a part, as given; null = none.';
comment on column monitor.share_tree.path is 'Shares from the top down to this share.';
comment on column monitor.share_tree.depth is 'Level of the share in the tree, from 1.';
comment on column monitor.share_tree.is_leaf is 'Whether the share has no parts; jobs belong to leaves.';
comment on column monitor.share_tree.target is
  'Target as given, in any unit, since it is compared only with the targets of its siblings; missing or negative = 0.';
comment on column monitor.share_tree.target_of_parent is
  'Fraction that the share has of the targets of its siblings and itself.';
comment on column monitor.share_tree.target_of_whole is 'Product of target_of_parent from the top down.';
comment on column monitor.share_tree.pledged is 'target_of_whole times all running work (HS06).';
comment on column monitor.share_tree.running is 'Running work of the share and its parts (HS06).';
comment on column monitor.share_tree.queued is 'Queued work of the share and its parts (HS06).';
comment on column monitor.share_tree.usage_of_parent is
  'Fraction that the share has of the running work of its siblings and itself.';
comment on column monitor.share_tree.usage_of_whole is 'Fraction that the share has of all running work.';
comment on column monitor.share_tree.usage is
  'Running / pledged, which is PanDA''s usage; 0 = nothing runs, 999999 = something runs and the target is 0.';
comment on column monitor.share_tree.distance is 'target_of_whole minus usage_of_whole; positive = behind.';
comment on column monitor.share_tree.behind is
  'Rank of the leaf, 1 = PanDA would take its jobs next: at each level the share with the largest distance goes first.';
comment on column monitor.share_tree.source is
  'Source of the figures: jobs = counted now from the jobs here and the counts of other systems; loaded = the figures '
  'of resource.share.';
comment on column monitor.share_tree.measured is
  'When the figures that brokerage reads were measured; null = the figures do not expire.';
comment on column monitor.share_tree.problem is
  'Reason why the share is at the top although it has a parent; null = no problem.';
