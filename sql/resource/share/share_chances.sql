-- See SHARES.md. PanDA takes the share that is furthest below its target, level by level; here each step is drawn.
-- At each level, shares with work below them are drawn with a chance in proportion to target x min(5, max(1/5, target /
-- usage)), where target and usage are relative to the siblings with work. Capacity that idle shares do not use goes to
-- their siblings first.
create or replace function resource.share_chances(p_shares resource.share[], p_leaves text[])
returns table (gshare text, chance float8)
language sql immutable as $$
  with recursive tree as materialized (
    select t.gshare, t.path, t.path[:t.depth - 1] as above, t.depth, t.is_leaf, t.target, t.running
      from resource.tree_of_shares(p_shares) t
  ), present as (
    select t.* from tree t
     where t.gshare in (
       select n.gshare from tree l cross join unnest(l.path) n (gshare) where l.is_leaf and l.gshare = any (p_leaves))
  ), portion as (
    select p.*, coalesce(p.target / nullif(sum(p.target) over siblings, 0), 1.0 / count(*) over siblings) as of_targets,
           p.running / nullif(sum(p.running) over siblings, 0) as of_running
      from present p window siblings as (partition by p.above)
  ), weighed as (
    select p.*,
           p.of_targets
           * case when p.of_running is null then 1
                  else least(5, greatest(0.2, coalesce(p.of_targets / nullif(p.of_running, 0), 5))) end as weight
      from portion p
  ), local as (
    select w.gshare, w.path, w.above, w.depth, w.is_leaf, w.weight / sum(w.weight) over (partition by w.above) as chance
      from weighed w
  ), down as (
    select l.gshare, l.path, l.is_leaf, l.chance from local l where l.depth = 1
    union all
    select l.gshare, l.path, l.is_leaf, d.chance * l.chance from down d join local l on l.above = d.path
  )
  select d.gshare, d.chance from down d where d.is_leaf
$$;

comment on function resource.share_chances(resource.share[], text[]) is
  'The chance of each named leaf when the tree of shares is descended at random. A share that is behind its target is '
  'drawn more often. The chances add up to 1. Names that are not leaves are left out.';
