-- CLAUSES.md, Rounding: the free disk of worker nodes differs, and the clauses compare it with a few numbers only. So a
-- known description is found by the bounds around each number. "offset 0" keeps the planner from repeating the value.
create or replace function taskqueue.rounded_description(p_setup text, p_resource jsonb) returns jsonb[]
language plpgsql stable as $$
declare
  v_given jsonb := p_resource -> 'Attributes';
  v_version int;
  v_names text[];
  v_numbers jsonb;
  v_rounded jsonb;
begin
  if jsonb_typeof(v_given) <> 'object' or p_resource ? 'Bounds' then
    return null;
  end if;
  select max(b.version), array_agg(b.name), jsonb_object_agg(b.name, n.value),
         jsonb_object_agg(b.name, case when b.bounds[n.place] = n.value then jsonb_build_array(n.value)
                                       else jsonb_build_array(b.bounds[n.place], b.bounds[n.place + 1]) end)
    into v_version, v_names, v_numbers, v_rounded
    from taskqueue.attribute_bounds b
   cross join lateral (select x.value, width_bucket(x.value, b.bounds) as place
                         from (select trim_scale((v_given ->> b.name)::numeric) as value offset 0) x offset 0) n
   where b.setup = p_setup and jsonb_typeof(v_given -> b.name) = 'number'
     and abs(n.value) <= 1e300 and octet_length(n.value::text) <= 400;  -- as in taskqueue.value_order
  p_resource := p_resource - '{CPUTime,HostName}'::text[];
  return case when v_version is null then array[p_resource]
              else array[p_resource || jsonb_build_object('Attributes', v_given - v_names,
                                                          'Bounds', jsonb_build_array(v_version, v_rounded)),
                         v_numbers] end;
end $$;

comment on function taskqueue.rounded_description(text, jsonb) is
  'A resource description as the key by which it is known, with the key Bounds instead of the numbers of its '
  'attributes: the version of the list of bounds, and by name the number itself if it is a bound, or the bounds below '
  'and above it (null: there is none); and these numbers by name. Null if the description cannot be known.';
