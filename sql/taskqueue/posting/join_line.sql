-- DRAWING.md, Posting lists. A call that waits for posting lists, or for rows while it has such lists, waits here
-- first: it has no lock for which somebody in front could wait.
create or replace function taskqueue.join_line(p_setup text) returns void
language plpgsql as $$
begin
  perform taskqueue.enter_setup(p_setup);  -- a configuration call has the setup before its place here
  perform pg_advisory_xact_lock(hashtextextended(p_setup, 7));
end $$;

comment on function taskqueue.join_line(text) is
  'Waits for the place in the line of those who wait for posting lists of a setup, and keeps it until the transaction '
  'ends.';
