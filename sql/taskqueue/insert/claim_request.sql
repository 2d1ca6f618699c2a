-- LEASES.md, Repeated requests: the calls of the service do not wait for each other as taskqueue.lock_request does, so
-- that no connection of the service waits for another one.
create or replace function taskqueue.claim_request(p_setup text, p_request_id uuid) returns void
language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended(p_setup || resource.caller() || p_request_id, 1)) then
    raise exception 'request id % is busy', p_request_id
      using errcode = 'PB006', hint = 'The first call with this id is still running. Ask again.';
  end if;
end $$;

comment on function taskqueue.claim_request(text, uuid) is
  'Locks a request id of the caller until the transaction ends; without an id nothing. Errors: PB006 (another '
  'transaction has locked it).';
