-- LEASES.md, Ended jobs. The history of a definition ends before the definition moves, and the day covers what
-- partitions of the history keep longer. The index by time finds the rows, so a call costs the same however many stay.
create or replace function taskqueue.forget_past_definitions(p_setup text, p_now timestamptz, p_limit int)
returns bigint
language plpgsql as $$
declare
  v_forgotten bigint;
begin
  delete from taskqueue.past_definition p where p.ctid = any (array(
    select i.ctid from taskqueue.past_definition i
     where i.setup = p_setup and i.moved_at < p_now - taskqueue.history_kept() - interval '1 day'
     order by i.moved_at
     limit p_limit
       for update skip locked));
  get diagnostics v_forgotten = row_count;
  return v_forgotten;
end $$;

comment on function taskqueue.forget_past_definitions(text, timestamptz, int) is
  'Drops up to p_limit past definitions that moved longer than history_kept and a day ago; returns how many.';
