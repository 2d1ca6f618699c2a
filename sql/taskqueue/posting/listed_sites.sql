-- DRAWING.md, Posting lists. Inlined.
create or replace function taskqueue.listed_sites(p_offer taskqueue.offer) returns text[]
language sql immutable as $$
  select case when (p_offer).sites is null then array[''] else (p_offer).sites || '*'::text end
$$;

comment on function taskqueue.listed_sites(taskqueue.offer) is
  'The sites whose posting lists an offer reads: its own and *. An offer without a site reads the list of the empty '
  'site.';
