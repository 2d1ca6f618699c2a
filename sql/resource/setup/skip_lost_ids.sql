-- See fail-over.md, Ids of lost commits. A promoted standby may lack the last commits and would give their ids again,
-- while agents and machines still use them. The sequence moves on once per timeline, under a lock: without the lock,
-- ids of another caller would be given twice.
create or replace function resource.skip_lost_ids(p_sequence regclass, p_first bigint, p_apart bigint) returns void
language plpgsql as $$
declare
  v_first bigint := p_first + p_apart * (resource.timeline() - 1);
begin
  if pg_sequence_last_value(p_sequence) >= v_first then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('skip_lost_ids', p_sequence::oid::bigint));
  if coalesce(pg_sequence_last_value(p_sequence), 0) < v_first then
    perform setval(p_sequence, v_first, false);
  end if;
end $$;

comment on function resource.skip_lost_ids(regclass, bigint, bigint) is
  'Moves a sequence to the ids of the server''s timeline: these begin at p_first in timeline 1, and p_apart further in '
  'each later timeline. Does nothing if the sequence has already moved.';
