-- software-check.md, Hardware: brokerage compares GPUs by these columns.
create or replace function taskqueue.gpus_offered(p_resource jsonb)
returns table (vendor text, model text, vram float8, architecture text, framework_version text, driver_version text)
language sql immutable as $$
  select v.value #>> '{}', m.value #>> '{}', case when a.mb >= 0 then a.mb end, a.given ->> 'gpu.architecture',
         a.given ->> 'gpu.runtime', a.given ->> 'gpu.driver'
    from (select p_resource -> 'Attributes', resource.number_or_null(p_resource -> 'Attributes', 'gpu.ram'))
           a(given, mb)
    left join lateral jsonb_path_query(a.given, '$."gpu.vendor"[*]') v(value) on true
    left join lateral jsonb_path_query(a.given, '$."gpu.model"[*]') m(value) on true
   where resource.number_or_null(a.given, 'gpu.count') > 0
$$;

comment on function taskqueue.gpus_offered(jsonb) is
  'The GPUs that a resource description offers by its attributes gpu.* (preset diracx of taskqueue.set_attributes): '
  'memory in MB; null where the description says nothing.';
