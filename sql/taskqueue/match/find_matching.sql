-- DRAWING.md, Rare matches: the definitions that match a description whatever its CPUTime and the limits of the
-- moment, as of one snapshot. They are kept with the description unless there are many; otherwise only the fact that
-- there are many is kept, so that nobody searches again.
create or replace function taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer)
returns taskqueue.known_offer
language plpgsql as $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_keys bigint[];
  v_snapshot pg_snapshot;
  v_ids bigint[];
  v_cpu_times bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  if v_offer.owner_groups is not null then  -- a private pilot: by the index on owners
    select pg_current_snapshot(), coalesce(array_agg(d.definition_id), '{}'), coalesce(array_agg(d.cpu_time), '{}')
      into v_snapshot, v_ids, v_cpu_times
      from taskqueue.definition d
     where d.setup = p_setup and d.owner_group = any (v_offer.owner_groups) and taskqueue.accepts(d, v_offer);
  else
    v_keys := taskqueue.offer_keys(p_setup, v_offer);
    select pg_current_snapshot(), coalesce(array_agg(d.definition_id), '{}'), coalesce(array_agg(d.cpu_time), '{}')
      into v_snapshot, v_ids, v_cpu_times
      from taskqueue.definition d
     where d.setup = p_setup and d.search_keys && v_keys and taskqueue.accepts(d, v_offer);
  end if;
  p_known.matches := taskqueue.keep_matching(p_known.known_id, v_ids, v_cpu_times, v_snapshot);
  p_known.matched_at := now();
  return p_known;
end $$;

comment on function taskqueue.find_matching(text, taskqueue.known_offer) is
  'A known description whose matching definitions have been searched: those of its sites and tags are tested.';
