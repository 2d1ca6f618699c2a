-- Calls that add or end steps or set their needs do not wait for this lock.
create or replace function instance.lock_schedule(p_setup text) returns void
language sql as $$
  select pg_advisory_xact_lock(hashtext('instance.schedule'), hashtext(p_setup))
$$;

comment on function instance.lock_schedule(text) is
  'Lets only one transaction at a time place steps or change the set of instances in a setup. The lock is held until '
  'the transaction ends.';
