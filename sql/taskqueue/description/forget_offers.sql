-- The meaning of a known description depends on settings, groups, compatible platforms and limits. A call that
-- changes these has the setup for itself (taskqueue.reconfigure), so that no other call stores what was right before.
create or replace function taskqueue.forget_offers(p_setup text) returns void
language sql as $$
  delete from taskqueue.known_offer k where k.setup = p_setup
$$;

comment on function taskqueue.forget_offers(text) is
  'Forgets the parsed descriptions, because a configuration changes. The caller has called taskqueue.reconfigure.';
