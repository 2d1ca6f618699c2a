-- Parsing a description takes 30 us; finding a known one by its hash takes 5 us. JobAgents of a site send the same
-- description again and again, except for CPUTime. A description with JobID is not kept. A description for a setup
-- without settings is not kept either, because the CPU buckets of that setup do not exist yet.
create or replace function taskqueue.parsed_description_of(p_setup text, p_resource jsonb, p_identity resource.identity)
returns taskqueue.parsed_description
language plpgsql as $$
declare
  v_parsed taskqueue.parsed_description;
  v_resource jsonb;
  v_digest bigint;
  v_cpu_time numeric;
  v_rounded jsonb[];
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' and pg_column_size(p_resource) < 1048576
                     then p_resource - '{CPUTime,JobID,HostName}'::text[] end;
  if v_resource ? 'Attributes' then
    v_rounded := taskqueue.rounded_description(p_setup, v_resource);
    v_resource := v_rounded[1];
  end if;
  v_digest := jsonb_hash_extended(v_resource, 0);
  if jsonb_typeof(p_resource -> 'CPUTime') = 'number' and not p_resource ? 'JobID'
     and (not p_resource ? 'HostName' or taskqueue.host_of(p_resource -> 'HostName') is not null) then
    v_cpu_time := (p_resource -> 'CPUTime')::numeric;
    -- plan: the description of a new or private agent
    select k.*
      into v_parsed
      from taskqueue.parsed_description k
     where k.setup = p_setup and k.digest = v_digest and k.resource = v_resource
       and k.owner_group is not distinct from p_identity.owner_group
       and k.owner_dn is not distinct from p_identity.owner_dn
     limit 1;
  end if;
  if v_parsed.digest is not null and v_cpu_time >= 0 and v_cpu_time < 1e300 then
    v_parsed.offer.cpu_time := floor(least(v_cpu_time, 9223372036854775807));
    return case when v_rounded[2] is null then v_parsed else taskqueue.with_numbers(v_parsed, v_rounded[2]) end;
  end if;
  v_parsed.setup := p_setup;
  v_parsed.digest := v_digest;
  v_parsed.resource := v_resource;
  v_parsed.offer := taskqueue.offer_of(p_setup, p_resource, p_identity);
  v_parsed.offer.bounds := (v_resource -> 'Bounds' -> 0)::int;
  v_parsed.offer := taskqueue.with_clauses(p_setup, v_parsed.offer);
  v_parsed.offer.reached := null;  -- it changes from match to match (taskqueue.draw_on)
  v_parsed.owner_group := p_identity.owner_group;
  v_parsed.owner_dn := p_identity.owner_dn;
  v_parsed.is_plain := coalesce(cardinality((v_parsed.offer).sites), 1) = 1
                      and coalesce(cardinality((v_parsed.offer).grid_ces), 1) = 1;
  v_parsed.site_1 := coalesce((v_parsed.offer).sites[1], '');
  v_parsed.site_2 := case when v_parsed.site_1 <> '' then '*' end;
  v_parsed.site := (v_parsed.offer).sites[1];
  v_parsed.grid_ce := (v_parsed.offer).grid_ces[1];
  v_parsed.guarded := exists (
    select from taskqueue.quarantine q
     where q.setup = p_setup and q.site = any (taskqueue.guard_sites(v_parsed.offer)) and q.locks);
  v_parsed.seen := '{}';
  v_parsed.tests := taskqueue.tests_of(v_parsed.offer);
  v_parsed.cpu_buckets := array(
    select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time);
  select coalesce(s.ten_first, false), coalesce(s.policy, 'dirac'), coalesce(s.lease_time, '30 minutes')
    into v_parsed.ten_first, v_parsed.policy, v_parsed.lease_time
    from (values (1)) one left join taskqueue.setting s on s.setup = p_setup;
  if (v_parsed.offer).job_id is null and v_cpu_time is not null
     and exists (select from taskqueue.setting s where s.setup = p_setup) and pg_try_advisory_xact_lock(v_digest) then
    v_parsed.offer.cpu_time := 9223372036854775807;
    v_parsed.known_id := nextval('taskqueue.known_id');
    v_parsed.seen_at := resource.clock(p_setup) - interval '1 hour';  -- a request that is refused notes nothing
    insert into taskqueue.parsed_description select v_parsed.*;
    v_parsed.offer.cpu_time := floor(least(v_cpu_time, 9223372036854775807));
  end if;
  return v_parsed;
end $$;

comment on function taskqueue.parsed_description_of(text, jsonb, resource.identity) is
  'A resource description, parsed now or known from before. Errors: PB001, naming key and value (taskqueue.offer_of).';
