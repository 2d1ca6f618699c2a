-- PanDA's global shares (GlobalShares in its sources). Targets are normalised among siblings from the top down, and
-- figures of leaves are summed up the tree. The next leaf is found from the top, by the share that is furthest below
-- its target. A share whose parent is missing is at the top, as is the share with the first name in a circle of
-- parents.
create or replace function resource.tree_of_shares(p_shares resource.share[])
returns table (gshare text, parent text, path text[], depth int, is_leaf boolean, target float8,
               target_of_parent float8, target_of_whole float8, pledged float8, running float8, queued float8,
               usage_of_parent float8, usage_of_whole float8, usage float8, distance float8, behind bigint,
               problem text)
language sql immutable as $$
  with recursive given as (
    select s.gshare, s.parent, a.gshare as above, greatest(s.target, 0) as target, greatest(s.running, 0) as running,
           greatest(s.queued, 0) as queued
      from unnest(p_shares) s
      left join unnest(p_shares) a on a.gshare = s.parent
  ), reached as (
    select g.gshare from given g where g.above is null
    union
    select g.gshare from reached r join given g on g.above = r.gshare
  ), chain as (
    select g.gshare, g.above from given g where g.gshare not in (select r.gshare from reached r)
    union
    select c.gshare, g.above from chain c join given g on g.gshare = c.above
  ), cut as (
    select c.gshare from chain c group by c.gshare having c.gshare = min(c.above collate "C")
  ), placed as (
    select g.gshare, g.parent, case when c.gshare is null then g.above end as above, g.target, g.running, g.queued,
           case when c.gshare is not null then 'its parents form a circle'
                when g.above is null and g.parent <> '' then 'its parent does not exist' end as problem
      from given g left join cut c on c.gshare = g.gshare
  ), portion as (
    select p.*, coalesce(p.target / nullif(sum(p.target) over (partition by p.above), 0), 0) as of_parent,
           not exists (select from placed b where b.above = p.gshare) as is_leaf
      from placed p
  ), tree as (
    select p.*, array[p.gshare] as path, p.of_parent as of_whole from portion p where p.above is null
    union all
    select p.*, t.path || p.gshare, t.of_whole * p.of_parent from tree t join portion p on p.above = t.gshare
  ), figure as (
    select n.gshare, sum(t.running) as running, sum(t.queued) as queued
      from tree t cross join unnest(t.path) n (gshare)
     where t.is_leaf
     group by n.gshare
  ), used as (
    select t.gshare, t.parent, t.above, t.path, t.is_leaf, t.target, t.of_parent, t.of_whole, t.problem, f.running,
           f.queued, sum(f.running) filter (where t.is_leaf) over () as total,
           coalesce(f.running / nullif(sum(f.running) over (partition by t.above), 0), 0) as used_of_parent
      from tree t join figure f on f.gshare = t.gshare
  ), ranked as (
    select u.*, u.of_whole - coalesce(u.running / nullif(u.total, 0), 0) as distance,
           row_number() over (partition by u.above
                              order by round((u.of_whole - coalesce(u.running / nullif(u.total, 0), 0))::numeric,
                                             12) desc, u.gshare collate "C") as rank
      from used u
  ), way as (
    select r.gshare, array_agg(a.rank order by n.level) as ranks
      from ranked r cross join unnest(r.path) with ordinality n (gshare, level) join ranked a on a.gshare = n.gshare
     where r.is_leaf
     group by r.gshare
  ), leaf as (
    select w.gshare, row_number() over (order by w.ranks) as behind from way w
  )
  select r.gshare, r.parent, r.path, cardinality(r.path), r.is_leaf, r.target, r.of_parent, r.of_whole,
         r.total * r.of_whole, r.running, r.queued, r.used_of_parent,
         coalesce(r.running / nullif(r.total, 0), 0),
         case when r.running = 0 then 0 else coalesce(r.running / nullif(r.total * r.of_whole, 0), 999999) end,
         r.distance, l.behind, r.problem
    from ranked r left join leaf l on l.gshare = r.gshare
$$;

comment on function resource.tree_of_shares(resource.share[]) is
  'Shares as a tree, one row per share. target and running are fractions of the parent and of the whole; pledged is '
  'the target''s part of everything that runs (HS06); usage is running / pledged (PanDA''s usage; 999999 where the '
  'target is 0); distance is target less usage, of the whole; behind numbers the leaves, 1 = furthest behind.';
