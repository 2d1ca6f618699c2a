-- SHARES.md, Families: the TaskQueues of a family have equal requirements except for Sites, BannedSites, MinRAM and
-- MaxRAM.
create or replace function taskqueue.family_of(p_requirements jsonb) returns uuid
language sql immutable as $$
  select md5((p_requirements - '{Sites,BannedSites,MinRAM,MaxRAM}'::text[])::text)::uuid
$$;

comment on function taskqueue.family_of(jsonb) is
  'The family of canonical requirements: the md5 of all keys except Sites, BannedSites, MinRAM and MaxRAM.';
