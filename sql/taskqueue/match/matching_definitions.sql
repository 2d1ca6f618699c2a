-- DRAWING.md, Agents that wait: makes the same tests as taskqueue.find_matching, for definitions that just got jobs.
create or replace function taskqueue.matching_definitions(p_setup text, p_definition_ids bigint[], p_resources jsonb)
returns table (resource int, definition_id bigint)
language plpgsql security definer set search_path = taskqueue, pg_temp set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_resource record;
  v_offer taskqueue.offer;
begin
  if jsonb_typeof(p_resources) is distinct from 'array' then
    raise exception 'resources are %, not a JSON array', coalesce(resource.shown(p_resources), 'null')
      using errcode = 'PB001', hint = 'Give [{...}, ...], a description for each resource.';
  end if;
  perform taskqueue.require_within(p_setup, 'batch_size', 'resources', taskqueue.json_size(p_resources));
  if jsonb_array_length(p_resources) > 1000 or cardinality(p_definition_ids) > 1000 then
    raise exception '% resources and % definitions in one call', jsonb_array_length(p_resources),
      cardinality(p_definition_ids)
      using errcode = 'PB001', hint = 'A call takes up to 1,000 of each; use several calls.';
  end if;
  perform taskqueue.enter_setup(p_setup);
  for v_resource in
    select r.description, r.n from jsonb_array_elements(p_resources) with ordinality r (description, n)
  loop
    v_offer := (taskqueue.parsed_description_of(p_setup, v_resource.description, v_identity)).offer;
    v_offer.cpu_time := 9223372036854775807;
    v_offer.reached := null;
    return query
      select v_resource.n::int, d.definition_id
        from taskqueue.definition d
       where d.setup = p_setup and d.definition_id = any (p_definition_ids) and taskqueue.accepts(d, v_offer);
  end loop;
end $$;

comment on function taskqueue.matching_definitions(text, bigint[], jsonb) is
  'Pairs of a resource (by number, from 1) and a definition that match, whatever their CPUTime and the present limits. '
  'Errors: PB001 (the list, a description), PB002 (setup not granted).';
