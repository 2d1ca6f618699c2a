-- DRAWING.md, Next candidate: the short way of a match (taskqueue.match_job) begins here. It returns whole rows, since
-- each column costs a catalogue lookup at each level of the plan. Inlined by the planner.
create or replace function taskqueue.known_lists(
  p_setup text, p_resource jsonb, p_cpu_time numeric, p_request_id uuid, p_subject resource.subject
) returns table (
  role_name text, known taskqueue.parsed_description, cpu_time bigint, list_1 taskqueue.posting_list,
  list_2 taskqueue.posting_list, bound float8, bound_1 float8, highest float8,
  exponent float8, is_given boolean, now timestamptz
)
language sql stable rows 1 as $$
  select c.role_name, k, w.cpu_time, l.list_1, l.list_2, b.bound_1 + b.bound_2, b.bound_1, h.highest,
         case when k.policy <> 'proportional' then h.highest / (b.bound_1 + b.bound_2) else 0 end,
         p_request_id is not null
         and (exists (select from taskqueue.request r
                       where r.setup = p_setup and r.role_name = c.role_name and r.request_id = p_request_id)
              or exists (select from taskqueue.lease l where l.setup = p_setup and l.request_id = p_request_id)),
         (select t.now from resource.setup_time t where t.setup = p_setup)
    from (values (resource.caller(), p_subject.owner_group is not null or p_subject.owner_dn is not null))
           c (role_name, is_bound)
    left join resource.identity i on i.setup = p_setup and i.role_name = c.role_name
    join taskqueue.parsed_description k
      on k.setup = p_setup and k.digest = jsonb_hash_extended(p_resource, 0) and k.resource = p_resource
     and k.owner_group is not distinct from case when c.is_bound then p_subject.owner_group else i.owner_group end
     and k.owner_dn is not distinct from case when c.is_bound then p_subject.owner_dn else i.owner_dn end
   cross join lateral (
          select k.cpu_buckets[width_bucket(p_cpu_time::float8, k.cpu_buckets)]::bigint as cpu_time offset 0) w
   cross join lateral (
          select case when k.matches is null then (
                   select l from taskqueue.posting_list l
                    where l.setup = p_setup and l.site = k.site_1 and l.cpu_time <= w.cpu_time and l.position_count > 0
                    order by l.cpu_time desc limit 1) end as list_1,
                 case when k.matches is null then (
                   select l from taskqueue.posting_list l
                    where l.setup = p_setup and l.site = k.site_2 and l.cpu_time <= w.cpu_time and l.position_count > 0
                    order by l.cpu_time desc limit 1) end as list_2 offset 0) l
   cross join lateral (
          select case when (l.list_1).cpu_time < (l.list_2).cpu_time then 0
                      else coalesce((l.list_1).total_bound, 0) end as bound_1,
                 case when (l.list_2).cpu_time < (l.list_1).cpu_time then 0
                      else coalesce((l.list_2).total_bound, 0) end as bound_2 offset 0) b
   cross join lateral (
          select greatest(case when b.bound_1 > 0 then (l.list_1).highest_bound end,
                          case when b.bound_2 > 0 then (l.list_2).highest_bound end) as highest) h
   -- as resource.identify: a subject that calls through the service needs no row in the setup of its credential
   where case when p_subject.setup is null then i.setup is not null else p_subject.setup = p_setup end
   limit 1
$$;

comment on function taskqueue.known_lists(text, jsonb, numeric, uuid, resource.subject) is
  'A known description (without its CPUTime) for the identity of the caller, the CPU bucket of p_cpu_time (seconds), '
  'and for each of its sites the posting list in the highest CPU bucket that has one (none if few definitions match). '
  'bound: sum of the upper bounds of both lists; bound_1: that of the first list; a list in a lower bucket adds '
  'nothing. highest: the highest upper bound; exponent: the exponent of the random number of a try. is_given: the '
  'request id may have an answer. now: time of the setup. No row means that the description is not known, or that the '
  'caller has no identity.';
