-- LEASES.md, Repeated requests: a repetition waits while the first call still runs, and no other call waits. Inlined.
create or replace function taskqueue.lock_request(p_setup text, p_request_id uuid) returns boolean
language sql as $$
  select p_request_id is not null
         and pg_advisory_xact_lock(hashtextextended(p_setup || resource.caller() || p_request_id, 1)) is not null
$$;

comment on function taskqueue.lock_request(text, uuid) is
  'Locks a request id of the caller until the transaction ends; false if there is no id.';
