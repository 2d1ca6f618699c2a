-- The meaning of a known description depends on settings, groups, compatible platforms and limits. A call that changes
-- these has the setup for itself (taskqueue.reconfigure), so that no other call stores an outdated description.
create or replace function taskqueue.forget_descriptions(p_setup text) returns void
language sql as $$
  delete from taskqueue.parsed_description k where k.setup = p_setup;
  delete from taskqueue.kind_offer k where k.setup = p_setup;
  delete from taskqueue.known_condition k where k.setup = p_setup;
  update taskqueue.waiting_reason r set found_at = null where r.setup = p_setup and r.found_at is not null
$$;

comment on function taskqueue.forget_descriptions(text) is
  'Forgets the parsed descriptions and the reasons of waiting jobs, because a configuration changes; the reasons are '
  'then found again. The caller has called taskqueue.reconfigure.';
