-- The searches look for a kind of resource for each definition, the best first: seen lately and free; seen lately and
-- at a limit; not seen lately; failing the fewest conditions of size. Each search runs only if the earlier ones found
-- nothing, and the first three end with their first hit.
create or replace function taskqueue.search_reasons(
  p_setup text, p_definition_ids bigint[], p_seen_since timestamptz, p_now timestamptz
) returns bigint
language plpgsql as $$
declare
  v_changed bigint;
begin
  with kind as materialized (
    select k.class, k.offer, c.last_seen >= p_seen_since as is_seen,
           case when (k.offer).limited then taskqueue.with_limits(p_setup, c.resource, k.offer)
                else k.offer end as limited_offer
      from taskqueue.kind_offer k
      join taskqueue.resource_class c on c.setup = k.setup and c.class = k.class
     where k.setup = p_setup and k.offer is distinct from null
     order by c.last_seen >= p_seen_since desc, c.matched_at desc nulls last, c.last_seen desc
  ), found as (
    select d.definition_id,
           case when d.sites <> '{}' and d.sites <@ d.banned_sites then 'misconfigured'
                when free.class is not null or old.class is not null then 'waiting'
                when limited.class is not null then 'limited'
                when small.class is not null then 'too_large'
                else 'no_resource_seen' end as reason,
           coalesce(free.class, limited.class, old.class, small.class) as class
      from taskqueue.definition d
     cross join lateral (select taskqueue.tags_but_size(d.tags) as but_size) tags
      left join lateral (
        select k.class from kind k where k.is_seen and taskqueue.accepts(d, k.limited_offer) limit 1) free on true
      left join lateral (
        select k.class from kind k
         where free.class is null and k.is_seen and (k.offer).limited and taskqueue.accepts(d, k.offer)
         limit 1) limited on true
      left join lateral (
        select k.class from kind k
         where coalesce(free.class, limited.class) is null and not k.is_seen and taskqueue.accepts(d, k.offer)
         limit 1) old on true
      left join lateral (
        select k.class from kind k
         where coalesce(free.class, limited.class, old.class) is null
           and taskqueue.accepts_but_size(d, tags.but_size, k.offer)
         order by taskqueue.accepts_cpu_time(d, k.offer)::int + taskqueue.accepts_ram(d, k.offer)::int
                  + taskqueue.accepts_tag(d, k.offer)::int desc, k.is_seen desc, k.class
         limit 1) small on true
     where d.setup = p_setup and d.definition_id = any (p_definition_ids)
  )
  insert into taskqueue.waiting_reason as r (setup, definition_id, reason, class, found_at)
  select p_setup, f.definition_id, f.reason, f.class, p_now from found f order by f.definition_id
  on conflict (setup, definition_id) do update
     set reason = excluded.reason, class = excluded.class, found_at = excluded.found_at;
  get diagnostics v_changed = row_count;
  return v_changed;
end $$;

comment on function taskqueue.search_reasons(text, bigint[], timestamptz, timestamptz) is
  'Finds the reason and the kind of resource of definitions (taskqueue.waiting_reason); p_seen_since: the time from '
  'which a resource counts as seen. Returns how many reasons were found.';
