-- DRAWING.md, Next candidate: where the short way of a match (taskqueue.match_job) begins. Inlined by the planner.
create or replace function taskqueue.known_lists(p_setup text, p_resource jsonb, p_cpu_time numeric)
returns table (
  role_name text, offer taskqueue.offer, platforms text[], tags text[], tests int, policy text, ten_first boolean,
  lease_time interval, site text, site_1 text, grid_ce text, is_plain boolean, seen_at timestamptz, seen bigint[],
  cpu_buckets float8[], matching bigint[], known_to xid8, in_flight xid8[], cpu_time bigint, exponent float8,
  list_bucket bigint, bound float8, bound_1 float8, highest float8, list_1 bigint, cumulative_1 float8[],
  upper_1 float8[], classes_1 int[], list_2 bigint, cumulative_2 float8[], upper_2 float8[], classes_2 int[]
)
language sql stable rows 1 as $$
  select i.role_name, k.offer, (k.offer).platforms, (k.offer).tags, k.tests, k.policy, k.ten_first, k.lease_time,
         k.site, k.site_1, k.grid_ce, k.is_plain, k.seen_at, k.seen, k.cpu_buckets, k.matching, k.known_to, k.in_flight,
         w.cpu_time, case when k.policy = 'proportional' then 0 else l.highest / l.bound end, l.*
    from resource.identity i
    join taskqueue.known_offer k on k.setup = p_setup and k.digest = jsonb_hash_extended(p_resource, 0)
                                and k.resource = p_resource and k.owner_group is not distinct from i.owner_group
                                and k.owner_dn is not distinct from i.owner_dn
   cross join lateral (
          select k.cpu_buckets[width_bucket(p_cpu_time::float8, k.cpu_buckets)]::bigint as cpu_time offset 0) w
   cross join lateral taskqueue.highest_lists(
          case when k.matching is null then p_setup end, k.site_1, k.site_2, w.cpu_time) l
   where i.setup = p_setup and i.role_name = resource.caller()
   limit 1
$$;

comment on function taskqueue.known_lists(text, jsonb, numeric) is
  'A known description (without its CPUTime) for the identity of the caller, with the CPU bucket of p_cpu_time '
  '(seconds), and the posting lists of its sites in the highest CPU bucket that has any; none where few definitions '
  'match. exponent: of random() in the key of a candidate. No row: the description is not known, or the caller has no '
  'identity.';
