-- LEASES.md, Repeated requests: the calls of the service do not wait for each other as taskqueue.lock_request does, so
-- that no connection of the service is held by another one. The transaction of a call that has just failed may need a
-- moment to end.
create or replace function taskqueue.claim_request(p_setup text, p_request_id uuid) returns void
language plpgsql as $$
declare
  v_key bigint := hashtextextended(p_setup || resource.caller() || p_request_id, 1);
begin
  if pg_try_advisory_xact_lock(v_key) is not false then
    return;
  end if;
  perform pg_sleep(0.05);
  if not pg_try_advisory_xact_lock(v_key) then
    raise exception 'request id % is busy', p_request_id
      using errcode = 'PB006', hint = 'The first call with this id is still running. Ask again.';
  end if;
end $$;

comment on function taskqueue.claim_request(text, uuid) is
  'Locks a request id of the caller until the transaction ends; without an id nothing. Errors: PB006 (another '
  'transaction has had it for 50 ms).';
