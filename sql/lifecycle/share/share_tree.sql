-- monitor.share_tree shows this tree of global shares with its present usage.
create or replace function lifecycle.share_tree(p_setup text)
returns table (gshare text, parent text, path text[], depth int, is_leaf boolean, target float8,
               target_of_parent float8, target_of_whole float8, pledged float8, running float8, queued float8,
               usage_of_parent float8, usage_of_whole float8, usage float8, distance float8, behind bigint, source text,
               measured timestamptz, problem text)
language plpgsql stable security definer set search_path = lifecycle, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_known_setup(p_setup);
  return query
    with present as materialized (
      select array_agg(c.share) as shares, bool_or(c.counted) as counted from lifecycle.current_shares(p_setup) c)
    select t.gshare, t.parent, t.path, t.depth, t.is_leaf, t.target, t.target_of_parent, t.target_of_whole, t.pledged,
           t.running, t.queued, t.usage_of_parent,
           t.usage_of_whole, t.usage, t.distance, t.behind,
           case when p.counted then 'jobs' else 'loaded' end,
           s.measured, t.problem
      from present p
     cross join lateral resource.tree_of_shares(p.shares) t
      join resource.share s on s.setup = p_setup and s.gshare = t.gshare
     order by t.path collate "C";
end $$;

comment on function lifecycle.share_tree(text) is
  'The tree of global shares of a setup: targets, present usage, and the leaf that is furthest behind its target '
  '(behind = 1); see resource.tree_of_shares. Errors: PB001, PB002 (setup not granted).';
