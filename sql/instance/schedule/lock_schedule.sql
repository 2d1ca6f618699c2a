-- Steps that are added, learn their needs or end do not wait for this lock.
create or replace function instance.lock_schedule(p_setup text) returns void
language sql as $$
  select pg_advisory_xact_lock(hashtext('instance.schedule'), hashtext(p_setup))
$$;

comment on function instance.lock_schedule(text) is
  'Makes sure that only one transaction at a time in a setup places steps or changes the set of instances; the lock is '
  'held until the transaction ends.';
