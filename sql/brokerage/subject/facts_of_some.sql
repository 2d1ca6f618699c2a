-- The second pass and the arms of a trial need the facts of some of the tasks. Facts of single pairs are keyed by the
-- places of the tasks.
create or replace function brokerage.facts_of_some(
  p_subjects brokerage.facts_by_subject, p_numbers bigint[], p_queues int
) returns brokerage.facts_by_subject
language plpgsql immutable as $$
begin
  if cardinality(p_numbers) = coalesce(cardinality(p_subjects.keys), cardinality(p_subjects.nucleus_keys)) then
    return p_subjects;
  end if;
  p_subjects.keys := array(
    select u.k from (select k, row_number() over () as n from unnest(p_subjects.keys) k) u where u.n = any (p_numbers));
  p_subjects.inputs := array(
    select u.k
      from (select k, row_number() over () as n from unnest(p_subjects.inputs) k) u
     where u.n = any (p_numbers));
  p_subjects.nucleus_keys := array(
    select u.k
      from (select k, row_number() over () as n from unnest(p_subjects.nucleus_keys) k) u
     where u.n = any (p_numbers));
  p_subjects.placement := array(
    select (f.pair + (u.place - u.n) * p_queues, f.is_preassigned, f.alone, f.disk_files, f.disk_bytes, f.files,
            f.bytes, f.is_placed, f.problem, f.copies, f.failed, f.closed, f.finished, f.user_queued,
            f.user_running)::brokerage.placement_facts
      from unnest(p_subjects.placement) f
      join unnest(p_numbers) with ordinality u(n, place) on u.n = (f.pair - 1) / p_queues);
  p_subjects.located := array(
    select (f.pair + (u.place - u.n) * p_queues, f.files, f.bytes, f.disk_files, f.disk_bytes)::brokerage.located_facts
      from unnest(p_subjects.located) f
      join unnest(p_numbers) with ordinality u(n, place) on u.n = (f.pair - 1) / p_queues);
  return p_subjects;
end $$;

comment on function brokerage.facts_of_some(brokerage.facts_by_subject, bigint[], int) is
  'The facts by subject of the tasks at some places (in ascending order), for the given number of queues.';
