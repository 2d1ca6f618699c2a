-- SHARES.md, Families: a family is the TaskQueues whose requirements are equal except for Sites, BannedSites, MinRAM
-- and MaxRAM.
create or replace function taskqueue.family_of(p_requirements jsonb) returns uuid
language sql immutable as $$
  select md5((p_requirements - '{Sites,BannedSites,MinRAM,MaxRAM}'::text[])::text)::uuid
$$;

comment on function taskqueue.family_of(jsonb) is
  'The family of canonical requirements: md5 of all but Sites, BannedSites, MinRAM and MaxRAM.';
