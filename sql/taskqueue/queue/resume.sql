-- LEASES.md, Holds: the public side of taskqueue.set_held.
create or replace function taskqueue.resume(p_setup text, p_kind text, p_name text) returns bigint
language sql security definer set search_path = taskqueue, pg_temp as $$
  select taskqueue.set_held(p_setup, p_kind, p_name, false)
$$;

comment on function taskqueue.resume(text, text, text) is
  'Resumes a job, an owner or a task_queue that taskqueue.hold holds. A job stays held while its owner or its '
  'TaskQueue is held, and a job with a pending change of a retry rule until taskqueue.maintain makes the change. '
  'Returns how many jobs or TaskQueues changed. Errors: PB001, PB002, PB004, PB005 (leased), '
  'PB006 (an owner, while calls keep the setup busy).';
