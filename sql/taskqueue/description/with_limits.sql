-- LEASES.md, Limits: finds the limits of the offered site that are reached. A lease records one site and one CE, so a
-- description must name exactly one of each if an offered site has a limit. Without limits this is one index lookup.
create or replace function taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer)
returns taskqueue.offer
language plpgsql stable as $$
declare
  v_named text[] := taskqueue.text_set('Site', p_resource -> 'Site', true);
  v_key text;
begin
  p_offer.limited := exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named));
  if not p_offer.limited then
    return p_offer;
  end if;
  v_key := case when cardinality(p_offer.sites) is distinct from 1 then 'Site'
                when cardinality(p_offer.grid_ces) is distinct from 1
                     and exists (select from taskqueue.site_limit l
                                  where l.setup = p_setup and l.site = any (v_named) and l.grid_ce is not null)
                then 'GridCE' end;
  if v_key is not null then
    raise exception '% is %, and limits are set at %', v_key, coalesce(resource.shown(p_resource -> v_key), 'missing'),
      array_to_string(v_named, ', ')
      using errcode = 'PB001', hint = 'Name exactly one site, and one CE where limits are set for CEs.';
  end if;
  p_offer.reached := array(
    select l.limit_id
      from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1]
       and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and case l.kind
             when 'running' then not exists (select from taskqueue.limit_slot s
                                              where s.setup = l.setup and s.limit_id = l.limit_id and s.slot > 0
                                             offset taskqueue.surplus_slots(l.setup, l.limit_id))
             else l.next_at > resource.clock(p_setup) + (l.burst - 1) * l.delay
           end);
  return p_offer;
end $$;

comment on function taskqueue.with_limits(text, jsonb, taskqueue.offer) is
  'The offer with the limits of its site that are reached. Errors: PB001 (not exactly one site or CE named where '
  'limits are set).';
