-- Counts and known descriptions record the transaction up to which they are complete. In a database restored from a
-- dump these are transactions of another server.
create or replace function taskqueue.counts_of_another_server(p_setup text) returns boolean
language sql stable as $$
  select exists (select from taskqueue.hand c
                  where c.setup = p_setup and c.known_to > pg_snapshot_xmax(pg_current_snapshot()))
      or exists (select from taskqueue.definition d
                  where d.setup = p_setup and d.made_in > pg_snapshot_xmax(pg_current_snapshot())
                    and d.made_in is distinct from pg_current_xact_id_if_assigned())
      or exists (select from taskqueue.parsed_description k
                  where k.setup = p_setup and k.known_to > pg_snapshot_xmax(pg_current_snapshot()))
$$;

comment on function taskqueue.counts_of_another_server(text) is
  'Whether a setup was restored from another server and taskqueue.rebuild_matching has not been called since.';
