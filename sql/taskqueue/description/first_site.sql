-- MATCHING.md, Condition Site: if several sites are offered, one of them must be both accepted and not banned.
create or replace function taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) returns text
language sql immutable as $$
  select min(s)
    from unnest(p_offered) s
   where (cardinality(p_sites) = 0 or s = any (p_sites)) and not s = any (p_banned_sites)
$$;

comment on function taskqueue.first_site(text[], text[], text[]) is
  'The first of the offered sites, by name, that a TaskQueue accepts and does not ban; null if there is none. It is '
  'the site of the lease.';
