-- LEASES.md, Holds: the public side of taskqueue.set_held.
create or replace function taskqueue.hold(p_setup text, p_kind text, p_name text) returns bigint
language sql security definer set search_path = taskqueue, pg_temp as $$
  select taskqueue.set_held(p_setup, p_kind, p_name, true)
$$;

comment on function taskqueue.hold(text, text, text) is
  'Holds a waiting job (id), an owner (OwnerDN; present and future TaskQueues) or a task_queue (id): its jobs are not '
  'matched until taskqueue.resume. Returns how many jobs or TaskQueues changed. Errors: PB001, PB002, PB004, PB005 '
  '(leased), PB006 (an owner, while calls keep the setup busy).';
