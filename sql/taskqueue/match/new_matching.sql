-- DRAWING.md, Rare matches: definitions made after taskqueue.find_matching are tested each time, until there are enough
-- of them to store the result.
create or replace function taskqueue.new_matching(p_setup text, p_parsed taskqueue.parsed_description) returns bigint[]
language plpgsql as $$
declare
  v_offer taskqueue.offer := p_parsed.offer;
  v_snapshot pg_snapshot;
  v_new bigint;
  v_ids bigint[];
  v_all bigint[];
  v_cpu_times bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  -- plan: definitions made since
  select pg_current_snapshot(), count(*),
         coalesce(array_agg(d.definition_id) filter (where taskqueue.accepts(d, v_offer)), '{}')
    into v_snapshot, v_new, v_ids
    from (select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in >= p_parsed.known_to
          union all
          select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in = any (p_parsed.in_flight)) d;
  if v_new >= greatest(8, p_parsed.matches / 8) and taskqueue.may_keep_matching(p_setup, v_offer) then
    -- plan: the definitions to be kept
    select coalesce(array_agg(d.definition_id), '{}'), coalesce(array_agg(d.cpu_time), '{}')
      into v_all, v_cpu_times
      from taskqueue.definition d
     where d.setup = p_setup and d.definition_id = any (taskqueue.kept_matching(p_parsed.known_id) || v_ids);
    perform taskqueue.keep_matching(p_parsed.known_id, v_all, v_cpu_times, v_snapshot);
  end if;
  return v_ids;
end $$;

comment on function taskqueue.new_matching(text, taskqueue.parsed_description) is
  'The matching definitions of a description that were made after taskqueue.find_matching; some of them may already be '
  'kept.';
