-- LEASES.md, Repeated requests: the same call repeated within ten minutes gives the same answer, so a lost answer
-- costs nothing. Leases and kept answers are read in one statement, since an answer moves from one to the other when a
-- lease ends.
create or replace function taskqueue.answer_given(p_setup text, p_request_id uuid, p_call text, p_asked bigint)
returns jsonb
language plpgsql as $$
declare
  v_role text := resource.caller();
  v_given record;
begin
  if not taskqueue.lock_request(p_setup, p_request_id) then
    return null;
  end if;
  -- plan: the answer of a repeated request
  select a.* into v_given
    from (select r.call, r.asked, r.answer, r.made_at
            from taskqueue.request r
           where r.setup = p_setup and r.role_name = v_role and r.request_id = p_request_id
           union all
          select 'match_jobs', l.asked, taskqueue.answer_of_lease(l, d.requirements), l.matched_at
            from taskqueue.lease l
            join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
           where l.setup = p_setup and l.role_name = v_role and l.request_id = p_request_id) a
   where a.made_at > resource.clock(p_setup) - interval '10 minutes'
   order by a.made_at desc limit 1;
  if not found then
    return null;
  end if;
  perform resource.identify(p_setup);
  if v_given.call <> p_call or v_given.asked is distinct from p_asked then
    raise exception 'request id % was used for another call (%) within ten minutes', p_request_id, v_given.call
      using errcode = 'PB001', hint = 'Use a new request id for each call, and the same one only to repeat a call.';
  end if;
  return v_given.answer;
end $$;

comment on function taskqueue.answer_given(text, uuid, text, bigint) is
  'The answer that the caller got within ten minutes for a request id; null if there is no answer or no request id. '
  'Errors: PB001 (the id was used for another call), PB002 (setup not granted any more).';
