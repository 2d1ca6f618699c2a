-- SHARES.md, Global shares: a group that is a leaf of the tree gets 1000 x the number of leaves with TaskQueues x the
-- chance of the leaf (resource.share_chances), so that a leaf gets 1000 on the average, the share of a group that is no
-- leaf. Figures measured more than 15 minutes ago count as if nothing ran. A leaf without TaskQueues gets the factor
-- that it would get if every leaf had TaskQueues, so that its first TaskQueue has a priority.
create or replace function taskqueue.global_factor(p_setup text) returns table (owner_group text, factor float8)
language sql stable as $$
  with shares as materialized (
    select array_agg(case when i.current then i.s else jsonb_populate_record(i.s, '{"running": 0}') end) as rows,
           array_agg(i.gshare) as names
      from (select s, s.gshare,
                   coalesce(bool_and(s.measured >= resource.clock(p_setup) - interval '15 minutes') over (),
                            true) as current
              from resource.share s where s.setup = p_setup) i
  ), waiting as materialized (
    select array_agg(distinct q.owner_group) as groups from taskqueue.task_queue q where q.setup = p_setup
  ), busy as materialized (
    select c.gshare, c.chance from shares s
     cross join waiting w
     cross join lateral resource.share_chances(s.rows, w.groups) c
  )
  select a.gshare,
         greatest((select count(*) from busy), 1) * 1000 * coalesce(b.chance, a.chance) / coalesce(g.share, 1000)
    from shares s
   cross join lateral resource.share_chances(s.rows, s.names) a
    left join busy b on b.gshare = a.gshare
    left join taskqueue.owner_group g on g.setup = p_setup and g.owner_group = a.gshare
$$;

comment on function taskqueue.global_factor(text) is
  'The groups that are leaves of the global shares, with the factor on their shares where the setting shares is '
  'global. Other groups have no row.';
