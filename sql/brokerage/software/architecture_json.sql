create or replace function brokerage.architecture_json(p_architecture text) returns jsonb
language sql stable as $$
  select case when j.value ? 'gpu_specs' and not j.value ? 'gpu_spec'
              then (j.value - 'gpu_specs')
                   || jsonb_build_object('gpu_spec', case when jsonb_typeof(g.specs) <> 'array' then g.specs
                                                          when jsonb_array_length(g.specs) < 2 then g.specs -> 0
                                                          else g.specs end)
              else j.value end
    from (select brokerage.json_of(p_architecture)) j(value)
   cross join lateral (select j.value -> 'gpu_specs') g(specs)
$$;

comment on function brokerage.architecture_json(text) is
  'An architecture in JSON as an object, with the older name gpu_specs (one object, or a list of one) as gpu_spec; '
  'null if the text is not JSON.';
