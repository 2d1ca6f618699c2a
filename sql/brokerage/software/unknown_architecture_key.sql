-- A requirement under a misspelt key would be lost, and the job would run where it cannot.
create or replace function brokerage.unknown_architecture_key(p_json jsonb) returns text
language sql immutable parallel safe as $$
  select format('%s is not known', k.key) || coalesce('; the nearest is ' || resource.nearest_name(k.key, v.known), '')
    from (select '{sw_platform,base_platform,encoded_platform,cpu_specs,gpu_spec,cpu_pref}'::text[], p_json
          union all
          select '{vendor,model,vram,version,driver_version,microarchitecture}', p_json -> 'gpu_spec'
          union all
          select '{preferred_architecture_level}', p_json -> 'cpu_pref'
          union all
          select '{arch,vendor,instr}', s.spec
            from jsonb_array_elements(case when jsonb_typeof(p_json -> 'cpu_specs') = 'array' then p_json -> 'cpu_specs'
                                           else '[]' end) s(spec)) v(known, value)
   cross join jsonb_object_keys(case when jsonb_typeof(v.value) = 'object' then v.value else '{}' end) k(key)
   where k.key <> all (v.known)
   limit 1
$$;

comment on function brokerage.unknown_architecture_key(jsonb) is
  'A key of an architecture in JSON that no rule reads, with the nearest key that one does; null if there is none.';
