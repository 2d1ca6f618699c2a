-- MATCHING.md, Condition Owner. DIRAC joins several groups by OR without brackets, so that all other conditions are
-- lost; here the groups are one condition.
create or replace function taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select case
    when (p_offer).owner_groups is null then (p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn
    else (p_definition).owner_group = any ((p_offer).owner_groups)
         and ((p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn
              or (p_definition).owner_group = any ((p_offer).sharing_groups))
  end
$$;

comment on function taskqueue.accepts_owner(taskqueue.definition, taskqueue.offer) is
  'Condition Owner: a private pilot takes jobs of its groups; in a group without JobSharing it takes only jobs of its '
  'owner.';
