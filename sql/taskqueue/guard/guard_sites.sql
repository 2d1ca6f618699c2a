-- Inlined.
create or replace function taskqueue.guard_sites(p_offer taskqueue.offer) returns text[]
language sql immutable as $$
  select case when p_offer.sites <> '{}' then p_offer.sites else '{""}' end
$$;

comment on function taskqueue.guard_sites(taskqueue.offer) is
  'The sites of an offer, as taskqueue.quarantine names them; an offer without sites has the empty text.';
