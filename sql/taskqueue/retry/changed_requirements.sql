-- RETRIES.md, Changes: MaxRAM rises with MinRAM, so that the job may use the memory. 1e300 is the most that jobs
-- may require. Inlined.
create or replace function taskqueue.changed_requirements(
  p_requirements jsonb, p_memory_factor numeric, p_time_factor numeric, p_site text, p_ram_used real
) returns jsonb
language sql stable as $$
  select p_requirements
         || jsonb_strip_nulls(jsonb_build_object(
              'CPUTime', (p_requirements ->> 'CPUTime')::numeric * p_time_factor,
              'MinRAM', n.min_ram,
              'MaxRAM', greatest(n.max_ram, case when p_requirements ? 'MaxRAM' then n.min_ram end),
              'BannedSites', case when p_site is not null then (
                 select jsonb_agg(s.site order by s.site)
                   from (select b.site from jsonb_array_elements_text(p_requirements -> 'BannedSites') b (site)
                          union select p_site) s) end))
    from (select case when r.min_ram > 1e300 then 1e300 else r.min_ram end::float8 as min_ram,
                 case when r.max_ram > 1e300 then 1e300 else r.max_ram end::float8 as max_ram
            from (select ceil(coalesce(nullif((p_requirements ->> 'MinRAM')::numeric, 0), p_ram_used::numeric)
                              * p_memory_factor) as min_ram,
                         ceil((p_requirements ->> 'MaxRAM')::numeric * p_memory_factor) as max_ram) r) n
$$;

comment on function taskqueue.changed_requirements(jsonb, numeric, numeric, text, real) is
  'Canonical requirements after the changes of a retry rule; CPUTime is not rounded to its bucket yet. MinRAM, or the '
  'memory that the job used if it requires none, is multiplied by p_memory_factor and rounded up to whole MB; CPUTime '
  'is multiplied by p_time_factor; p_site is added to BannedSites. A null changes nothing.';
