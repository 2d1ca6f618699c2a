-- MATCHING.md, Banned values.
create or replace function taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).banned_tags is null or not (p_definition).tags && (p_offer).banned_tags
$$;

comment on function taskqueue.accepts_banned_tag(taskqueue.definition, taskqueue.offer) is
  'Condition BannedTag: the TaskQueue lists no tag that the resource bans.';
