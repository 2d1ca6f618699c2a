-- LEASES.md, Repeated requests: the same call repeated within ten minutes gives the same answer, so a lost answer
-- costs nothing. A lock on the request id makes a repetition wait while the first call still runs, and no other call.
create or replace function taskqueue.answer_given(
  p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid
) returns jsonb
language plpgsql as $$
declare
  v_request taskqueue.request;
begin
  if p_request_id is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_identity.setup || p_identity.role_name || p_request_id, 1));
  select r.* into v_request from taskqueue.request r
   where r.setup = p_identity.setup and r.role_name = p_identity.role_name and r.request_id = p_request_id
     and r.made_at > resource.clock(p_identity.setup) - interval '10 minutes';
  if not found then
    return null;
  end if;
  if v_request.call <> p_call or v_request.asked is distinct from p_asked then
    raise exception 'request id % was used for another call (%) within ten minutes', p_request_id, v_request.call
      using errcode = 'PB001', hint = 'Use a new request id for each call, and the same one only to repeat a call.';
  end if;
  return v_request.answer;
end $$;

comment on function taskqueue.answer_given(resource.identity, uuid, text, uuid) is
  'The answer of a request made within ten minutes; null = none, or no request id. Errors: PB001 (the id was used for '
  'another call).';
