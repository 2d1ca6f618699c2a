-- CLAUSES.md, Processors. A description that no match has checked counts by what can be read in it.
create or replace function taskqueue.processors_given(p_requirements jsonb, p_resource jsonb) returns int
language plpgsql immutable security definer set search_path = taskqueue, pg_temp as $$
declare
  v_most int;
  v_least int;
  v_each numeric;
  v_overhead numeric;
begin
  if not p_requirements ? 'MaxNumberOfProcessors' then
    return null;
  end if;
  v_most := taskqueue.number_of_processors('MaxNumberOfProcessors', p_requirements -> 'MaxNumberOfProcessors');
  v_least := taskqueue.least_processors(
    jsonb_build_object('Tags', taskqueue.text_set('Tags', p_requirements -> 'Tags')));
  if p_requirements ? 'RAMPerProcessor' then
    v_each := nullif(taskqueue.one_number('RAMPerProcessor', p_requirements -> 'RAMPerProcessor'), 0);
  end if;
  if v_each is not null then
    v_overhead := taskqueue.one_number('MinRAM', p_requirements -> 'MinRAM') - v_each * v_least;
  end if;
  return (
    select greatest(v_least, floor(min(least(v_most, coalesce(o.processors, 1), (o.ram - v_overhead) / v_each))))
      from jsonb_array_elements(case jsonb_typeof(p_resource) when 'array' then p_resource
                                                              else jsonb_build_array(p_resource) end) r
     cross join lateral (
       select case when jsonb_typeof(r -> 'NumberOfProcessors') = 'number'
                   then (r -> 'NumberOfProcessors')::numeric end as processors,
              case when jsonb_typeof(r -> 'MaxRAM') = 'number' then (r -> 'MaxRAM')::numeric end as ram) o);
end $$;

comment on function taskqueue.processors_given(jsonb, jsonb) is
  'The processors that a job with these requirements (those of its match) gets on a resource: at most '
  'MaxNumberOfProcessors, NumberOfProcessors of the resource, and those for which its MaxRAM suffices; at least those '
  'that the job needs. Null without MaxNumberOfProcessors. An array of resource descriptions counts by the lowest '
  'result. Errors: PB001 (the requirements).';
