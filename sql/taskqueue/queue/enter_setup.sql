-- LEASES.md, Configuration calls: every call that matches, inserts or returns jobs enters its setup. A configuration
-- call (taskqueue.reconfigure) waits until these transactions have ended, and keeps new ones out until it has ended
-- itself. Otherwise a new limit would not count a match that began before it was set. The mark is a shared advisory
-- lock, which takes 1 us, no row and no session state. Inlined.
create or replace function taskqueue.enter_setup(p_setup text) returns boolean
language sql as $$
  select (current_setting('transaction_isolation') = 'read committed'
          or resource.require_read_committed() is not null)
         and (not pg_is_in_recovery() or resource.require_primary() is not null)
         and pg_advisory_xact_lock_shared(hashtext('taskqueue'), hashtext(p_setup)) is not null
$$;

comment on function taskqueue.enter_setup(text) is
  'Marks the transaction as working in the setup until it ends; see taskqueue.reconfigure. Errors: PB001 (isolation '
  'level), 25006 (a standby).';
