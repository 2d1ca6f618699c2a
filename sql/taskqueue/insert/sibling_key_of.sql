-- SHARES.md, Siblings: TaskQueues are siblings if their requirements are equal except for BannedSites, MinRAM and
-- MaxRAM.
create or replace function taskqueue.sibling_key_of(p_requirements jsonb) returns uuid
language sql immutable as $$
  select md5((p_requirements - '{BannedSites,MinRAM,MaxRAM}'::text[])::text)::uuid
$$;

comment on function taskqueue.sibling_key_of(jsonb) is
  'The key that siblings share: md5 of canonical requirements without BannedSites, MinRAM and MaxRAM.';
