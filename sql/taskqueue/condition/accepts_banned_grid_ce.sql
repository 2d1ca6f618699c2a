-- MATCHING.md, Banned values.
create or replace function taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).banned_grid_ces is null or not (p_definition).grid_ces && (p_offer).banned_grid_ces
$$;

comment on function taskqueue.accepts_banned_grid_ce(taskqueue.definition, taskqueue.offer) is
  'Condition BannedGridCE: the TaskQueue lists no CE that the resource bans.';
