-- PACKING.md, Unknown needs. An input of another case or spelling is a likely reason, so the given names are shown.
create or replace function instance.missing_inputs(p_step instance.step) returns text
language sql stable as $$
  select 'input ' || string_agg(distinct m[1], ', ') || ' is not given'
         || coalesce((select format(' (given: %s)', string_agg(k, ', ' order by k))
                        from jsonb_object_keys(p_step.inputs) k
                      having count(*) > 0), '')
    from unnest(array[case when p_step.cpu is null then p_step.cpu_expression end,
                      case when p_step.ram is null then p_step.ram_expression end]) e
   cross join lateral regexp_matches(e, '([A-Za-z_][A-Za-z_0-9]*)', 'g') m
   where m[1] not in ('ceil', 'floor', 'round', 'min', 'max')
     and jsonb_typeof(p_step.inputs -> m[1]) is distinct from 'number'
$$;

comment on function instance.missing_inputs(instance.step) is
  'The inputs that the expressions of a step read and that are not known, and the known ones; null if none is missing.';
