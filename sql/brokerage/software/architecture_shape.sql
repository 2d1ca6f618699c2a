-- See the JSON form in software-check.md, Task architecture.
create or replace function brokerage.architecture_shape(p_json jsonb) returns text
language sql immutable parallel safe as $$
  select format('%s is %s, not %s', v.key, v.value, v.wanted)
    from (select 'sw_platform' as key, p_json -> 'sw_platform' as value, array['string'] as kinds, 'a text' as wanted
          union all select 'encoded_platform', p_json -> 'encoded_platform', array['string'], 'a text'
          union all select 'base_platform', p_json -> 'base_platform', array['string'], 'a text'
          union all select 'cpu_specs', p_json -> 'cpu_specs', array['array'], 'a list of objects'
          union all select 'gpu_spec', p_json -> 'gpu_spec', array['object'], 'an object'
          union all select 'cpu_pref', p_json -> 'cpu_pref', array['object'], 'an object'
          union all
                    select 'preferred_architecture_level', p_json #> '{cpu_pref,preferred_architecture_level}',
                           array['string'], 'a text'
          union all select 'cpu_specs[' || s.number - 1 || ']', s.spec, array['object'], 'an object'
            from jsonb_array_elements(case when jsonb_typeof(p_json -> 'cpu_specs') = 'array' then p_json -> 'cpu_specs'
                                           else '[]' end) with ordinality s(spec, number)
          union all select k.key, s.spec -> k.key, array['string'], 'a text'
            from jsonb_array_elements(
              case when jsonb_typeof(p_json -> 'cpu_specs') = 'array' then p_json -> 'cpu_specs' else '[]' end) s(spec)
           cross join (values ('arch'), ('vendor'), ('instr')) k(key)
          union all select 'vendor', p_json #> '{gpu_spec,vendor}', array['string'], 'a text'
          union all select 'model', p_json #> '{gpu_spec,model}', array['string', 'object'], 'a text'
          union all select 'pattern', p_json #> '{gpu_spec,model,pattern}', array['string'], 'a text'
          union all select k.key, p_json -> 'gpu_spec' -> k.key, array['string', 'number'], 'a text'
            from (values ('vram'), ('version'), ('driver_version'), ('microarchitecture')) k(key)) v
   where jsonb_typeof(v.value) <> 'null' and jsonb_typeof(v.value) <> all (v.kinds)
   limit 1
$$;

comment on function brokerage.architecture_shape(jsonb) is
  'The value of an architecture in JSON that has the wrong type; null if there is none.';
