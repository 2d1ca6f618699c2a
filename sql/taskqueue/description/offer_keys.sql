-- DRAWING.md, Rare matches: the keys that a search looks for in taskqueue.definition.search_keys. If there would be too
-- many pairs, the keys are those of the sites alone.
create or replace function taskqueue.offer_keys(p_setup text, p_offer taskqueue.offer) returns bigint[]
language sql immutable as $$
  select taskqueue.search_keys(p_setup, s.sites,
                               case when cardinality(p_offer.tags) * cardinality(s.sites) < 1000
                                    then p_offer.tags || ''::text else '{*}' end)
    from (select case when p_offer.sites is null then '{""}' else p_offer.sites || '*'::text end as sites) s
$$;

comment on function taskqueue.offer_keys(text, taskqueue.offer) is
  'The search keys (taskqueue.search_keys) of an offer: a definition that can match the offer has at least one of '
  'them.';
