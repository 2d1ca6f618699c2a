-- MATCHING.md, Condition Site: if several sites are offered, one and the same site must be accepted and not banned, and
-- pass all clauses.
create or replace function taskqueue.site_for(p_definition taskqueue.definition, p_offer taskqueue.offer) returns text
language plpgsql stable as $$
declare
  v_sites text[] := (p_offer).sites;
begin
  if not (p_definition).requirements ? 'Clauses' then
    return taskqueue.first_site(v_sites, (p_definition).sites, (p_definition).banned_sites);
  end if;
  for i in 1 .. coalesce(cardinality(v_sites), 0) loop  -- they are sorted
    p_offer.sites := v_sites[i : i];
    if taskqueue.first_site(p_offer.sites, (p_definition).sites, (p_definition).banned_sites) is not null
       and taskqueue.meets_clauses(p_definition, p_offer) then
      return v_sites[i];
    end if;
  end loop;
  return null;
end $$;

comment on function taskqueue.site_for(taskqueue.definition, taskqueue.offer) is
  'The first of the offered sites, by name, at which a TaskQueue may run: the site of the lease; null if there is '
  'none.';
