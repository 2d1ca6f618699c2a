-- MATCHING.md, Banned values.
create or replace function taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).banned_platforms is null or not (p_definition).platforms && (p_offer).banned_platforms
$$;

comment on function taskqueue.accepts_banned_platform(taskqueue.definition, taskqueue.offer) is
  'Condition BannedPlatform: the TaskQueue lists no platform that the resource bans.';
