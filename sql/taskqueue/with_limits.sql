-- Section 7: which limits of the offered site are reached. A lease records one site and CE, so where an offered site has a limit the
-- description must name exactly one. Without limits this is one index probe.
create or replace function taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) returns taskqueue.offer
language plpgsql stable
as $$
declare
  v_ce_limited boolean;
begin
  p_offer.limited := p_offer.sites is not null
                     and exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (p_offer.sites));
  if not p_offer.limited then
    return p_offer;
  end if;
  select bool_or(l.grid_ce is not null) into v_ce_limited
    from taskqueue.site_limit l where l.setup = p_setup and l.site = any (p_offer.sites);
  if cardinality(p_offer.sites) > 1 or v_ce_limited and cardinality(p_offer.grid_ces) > 1 then
    raise exception '% holds %, and one of them has limits', case when cardinality(p_offer.sites) > 1 then 'Site' else 'GridCE' end,
          p_resource -> case when cardinality(p_offer.sites) > 1 then 'Site' else 'GridCE' end
      using errcode = 'PB001', hint = 'Name exactly one site and CE where limits are set.';
  end if;
  p_offer.reached := array(
    select l.limit_id
      from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1]
       and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and case l.kind
             when 'running' then not exists (select from taskqueue.limit_slot s
                                              where s.setup = l.setup and s.limit_id = l.limit_id and s.job_id is null
                                             offset taskqueue.surplus_slots(l.setup, l.limit_id, l.ceiling))
             else l.next_at > resource.clock(p_setup) + (l.burst - 1) * l.delay
           end);
  return p_offer;
end $$;

comment on function taskqueue.with_limits(text, jsonb, taskqueue.offer) is
'The offer with the limits of its site that are reached (section 7). Errors: PB001 (several sites or CEs named where limits are set).';
