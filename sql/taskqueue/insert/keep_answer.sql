-- LEASES.md, Repeated requests: see taskqueue.answer_given.
create or replace function taskqueue.keep_answer(
  p_setup text, p_request_id uuid, p_call text, p_asked bigint, p_answer jsonb
) returns void
language sql as $$
  insert into taskqueue.request (setup, role_name, request_id, call, asked, answer, made_at)
  select p_setup, resource.caller(), p_request_id, p_call, p_asked, p_answer, resource.clock(p_setup)
   where p_request_id is not null
  on conflict (setup, role_name, request_id) do update
     set call = excluded.call, asked = excluded.asked, answer = excluded.answer, made_at = excluded.made_at
$$;

comment on function taskqueue.keep_answer(text, uuid, text, bigint, jsonb) is
  'Keeps the answer of a request for ten minutes (taskqueue.maintain removes it).';
