-- MATCHING.md, Condition Site: one and the same site must be accepted and not banned; "any" skips both halves.
create or replace function taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select case
    when (p_offer).sites is null then true
    when cardinality((p_definition).sites) = 0 and (cardinality((p_definition).banned_sites) = 0
                                                    or cardinality((p_offer).sites) = 0) then true
    when cardinality((p_offer).sites) = 1 then
      (cardinality((p_definition).sites) = 0 or (p_offer).sites[1] = any ((p_definition).sites))
      and not (p_offer).sites[1] = any ((p_definition).banned_sites)
    else taskqueue.site_for(p_definition, p_offer) is not null
  end
$$;

comment on function taskqueue.accepts_site(taskqueue.definition, taskqueue.offer) is
  'Condition Site: the TaskQueue lists an offered site, or lists none, and does not ban that site.';
