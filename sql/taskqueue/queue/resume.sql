-- Section 8.
create or replace function taskqueue.resume(p_setup text, p_kind text, p_name text) returns bigint
language sql
security definer set search_path = taskqueue, pg_temp
as $$
  select taskqueue.set_held(p_setup, p_kind, p_name, false)
$$;

comment on function taskqueue.resume(text, text, text) is
'Lets go what taskqueue.hold holds. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';
