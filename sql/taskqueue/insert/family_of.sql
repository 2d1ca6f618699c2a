-- Section 9: queues equal but for Sites, BannedSites and RAM are one family.
create or replace function taskqueue.family_of(p_requirements jsonb) returns uuid
language sql immutable
as $$
  select md5((p_requirements - '{Sites,BannedSites,MinRAM,MaxRAM}'::text[])::text)::uuid
$$;

comment on function taskqueue.family_of(jsonb) is
  'The family of canonical requirements: md5 of all but Sites, BannedSites, MinRAM and MaxRAM (section 9).';
