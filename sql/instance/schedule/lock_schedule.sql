-- Placing and what instances there are go by one at a time in a setup; jobs that come, learn
-- their needs or end wait for nobody.
create or replace function instance.lock_schedule(p_setup text) returns void
language sql
as $$
  select pg_advisory_xact_lock(hashtext('instance.schedule'), hashtext(p_setup))
$$;

comment on function instance.lock_schedule(text) is
  'Keeps others from placing jobs, and from changing which instances there are, until the transaction ends.';
