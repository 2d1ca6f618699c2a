-- RETRIES.md, Another host: many sites have hosts of equal names. Inlined.
create or replace function taskqueue.host_at(p_host text, p_site text) returns text
language sql immutable as $$
  select p_host || coalesce(' at ' || p_site, '')
$$;

comment on function taskqueue.host_at(text, text) is
  'A host with its site, as a job avoids it: "n17 at NORTH"; the host alone if there is no site.';
