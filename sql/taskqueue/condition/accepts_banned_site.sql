-- MATCHING.md, Banned values.
create or replace function taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).banned_sites is null or not (p_definition).sites && (p_offer).banned_sites
$$;

comment on function taskqueue.accepts_banned_site(taskqueue.definition, taskqueue.offer) is
  'Condition BannedSite: the TaskQueue lists no site that the resource bans.';
