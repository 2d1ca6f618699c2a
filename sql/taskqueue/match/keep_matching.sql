-- DRAWING.md, Rare matches: definitions are stored by CPU bucket, since a draw reads one bucket. A draw reads all kept
-- definitions of the bucket, which takes longer than drawing candidates if too many match. This transaction may make
-- more definitions, so it counts as in progress. The tables are unlogged, so that a call without a match writes no WAL.
-- A caller that finds the row locked does not wait, and stores nothing. If the definitions have become too many, their
-- rows stay, because another call may be reading them.
create or replace function taskqueue.keep_matching(
  p_parsed_id bigint, p_ids bigint[], p_cpu_times bigint[], p_snapshot pg_snapshot
) returns int
language plpgsql as $$
declare
  v_is_kept boolean := cardinality(p_ids) <= 5000
                       and not exists (select from unnest(p_cpu_times) t group by t having count(*) > 1000);
begin
  update taskqueue.parsed_description k
     set matches = case when v_is_kept then cardinality(p_ids) end, matched_at = now(),
         known_to = pg_snapshot_xmax(p_snapshot),
         in_flight = array(select x from pg_snapshot_xip(p_snapshot) x) || pg_current_xact_id_if_assigned()
   where k.ctid = any (array(select i.ctid from taskqueue.parsed_description i
                              where i.known_id = p_parsed_id for update skip locked));
  if not (found and v_is_kept) then
    return null;
  end if;
  delete from taskqueue.known_match m where m.known_id = p_parsed_id;
  insert into taskqueue.known_match (known_id, cpu_time, definition_ids)
  select p_parsed_id, d.cpu_time, array_agg(d.definition_id order by d.definition_id)
    from unnest(p_ids, p_cpu_times) d (definition_id, cpu_time)
   group by d.cpu_time;
  return cardinality(p_ids);
end $$;

comment on function taskqueue.keep_matching(bigint, bigint[], bigint[], pg_snapshot) is
  'Stores which definitions match a description, as of a snapshot, and returns how many; null if they are more than '
  '1,000 in a CPU bucket or 5,000 in all, or if another transaction is storing them. p_cpu_times: the CPU bucket of '
  'each.';
