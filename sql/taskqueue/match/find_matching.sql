-- DRAWING.md, Rare matches: the definitions that match a description, whatever its CPUTime and the present limits, as
-- of one snapshot. They are kept with the description unless there are many. If there are many, only this fact is kept,
-- so that no call searches again.
create or replace function taskqueue.find_matching(p_setup text, p_parsed taskqueue.parsed_description)
returns taskqueue.parsed_description
language plpgsql as $$
declare
  v_offer taskqueue.offer := p_parsed.offer;
  v_keys bigint[];
  v_snapshot pg_snapshot;
  v_ids bigint[];
  v_cpu_times bigint[];
begin
  p_parsed.matched_at := now();
  if not taskqueue.may_keep_matching(p_setup, v_offer) then
    return p_parsed;
  end if;
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  if v_offer.owner_groups is not null then  -- a private pilot: the search uses the index on owners
    -- plan: the search for what a private pilot matches
    select pg_current_snapshot(), coalesce(array_agg(d.definition_id), '{}'), coalesce(array_agg(d.cpu_time), '{}')
      into v_snapshot, v_ids, v_cpu_times
      from taskqueue.definition d
     where d.setup = p_setup and d.owner_group = any (v_offer.owner_groups) and taskqueue.accepts(d, v_offer);
  else
    v_keys := taskqueue.offer_keys(p_setup, v_offer);
    -- plan: the search for what matches
    select pg_current_snapshot(), coalesce(array_agg(d.definition_id), '{}'), coalesce(array_agg(d.cpu_time), '{}')
      into v_snapshot, v_ids, v_cpu_times
      from taskqueue.definition d
     where d.setup = p_setup and d.search_keys && v_keys and taskqueue.accepts(d, v_offer);
  end if;
  if taskqueue.may_keep_matching(p_setup, v_offer) then  -- a clause may have come during the search
    p_parsed.matches := taskqueue.keep_matching(p_parsed.known_id, v_ids, v_cpu_times, v_snapshot);
  end if;
  return p_parsed;
end $$;

comment on function taskqueue.find_matching(text, taskqueue.parsed_description) is
  'Searches the definitions that match a known description, testing those of its sites and tags, and returns the '
  'description.';
