-- Canonical requirements as a row of taskqueue.definition, found or made. The row is locked until the caller commits,
-- because maintenance removes definitions that nothing refers to.
create or replace function taskqueue.definition_of(p_setup text, p_requirements jsonb) returns bigint
language plpgsql as $$
declare
  v_digest uuid := md5(p_requirements::text)::uuid;
  v_definition_id bigint;
begin
  loop
    select d.definition_id into v_definition_id
      from taskqueue.definition d where d.setup = p_setup and d.digest = v_digest for key share;
    exit when found;
    insert into taskqueue.definition (setup, digest, family, sibling_key, requirements, owner_dn, owner_group, cpu_time,
                                      min_ram, pilot_types, sites, banned_sites, grid_ces, platforms, job_types,
                                      tags, clauses, search_keys, is_limited, created_at)
    select p_setup, v_digest, taskqueue.family_of(r), taskqueue.sibling_key_of(r), r, r ->> 'OwnerDN',
           r ->> 'OwnerGroup', (r ->> 'CPUTime')::bigint, (r ->> 'MinRAM')::float8,
           taskqueue.list_of(r, 'PilotTypes'), taskqueue.list_of(r, 'Sites'), taskqueue.list_of(r, 'BannedSites'),
           taskqueue.list_of(r, 'GridCEs'),
           taskqueue.list_of(r, 'Platforms'), taskqueue.list_of(r, 'JobTypes'), taskqueue.list_of(r, 'Tags'),
           case when r ? 'Clauses' then taskqueue.bits_of_clauses(p_setup, r -> 'Clauses') else '' end,
           taskqueue.definition_keys(p_setup, taskqueue.list_of(r, 'Sites'), taskqueue.list_of(r, 'Tags')),
           taskqueue.counts_at_limit(p_setup, r), resource.clock(p_setup)
      from (values (p_requirements)) v (r)
    on conflict (setup, digest) do nothing
    returning definition_id into v_definition_id;
    exit when found;
  end loop;
  return v_definition_id;
end $$;

comment on function taskqueue.definition_of(text, jsonb) is
  'The definition of canonical requirements; it is made if there is none.';
