-- What known descriptions mean depends on settings, groups, compatible platforms and limits. Whoever changes these
-- keeps everybody else out (taskqueue.reconfigure), so that nobody writes down what was true before.
create or replace function taskqueue.forget_offers(p_setup text) returns void
language sql
as $$
  delete from taskqueue.known_offer k where k.setup = p_setup
$$;

comment on function taskqueue.forget_offers(text) is
  'Forgets the descriptions that were parsed, because a configuration changes. '
  'The caller has called taskqueue.reconfigure.';
