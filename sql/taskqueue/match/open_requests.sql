-- LEASES.md, Repeated requests: of many requests at once. Ids are locked in their order and nobody waits: an id that
-- another transaction has locked is refused, since that call may still give it an answer.
create or replace function taskqueue.open_requests(p_setup text, p_requests jsonb) returns setof taskqueue.answer
language plpgsql as $$
declare
  v_request record;
  v_answer taskqueue.answer;
  v_last uuid;
  v_id uuid;
begin
  perform resource.identify(p_setup);
  for v_request in
    select e.n::int as n, e.request, taskqueue.request_fault(e.request) as fault
      from jsonb_array_elements(p_requests) with ordinality e (request, n)
     order by case when jsonb_typeof(e.request) = 'object' then lower(e.request ->> 'request_id') end, e.n
  loop
    v_id := case when v_request.fault is null then nullif(v_request.request ->> 'request_id', '')::uuid end;
    v_answer := row(v_request.n, null, null, null, null, null, v_request.fault)::taskqueue.answer;
    if v_request.fault is null and v_id = v_last then
      v_answer.error := jsonb_build_object('code', 'PB001',
                                           'message', format('request id %s stands twice in the call', v_id),
                                           'hint', 'Use a new request id for each request.');
    elsif v_id is not null then
      v_last := v_id;
      if not pg_try_advisory_xact_lock(hashtextextended(p_setup || resource.caller() || v_id, 1)) then
        v_answer.error := jsonb_build_object('code', 'PB006', 'message', format('request id %s is busy', v_id),
                                             'hint', 'The first call with it still runs. Ask again.');
      else
        begin
          return query
            select v_request.n, a.job_id, a.task_queue_id, a.requirements, a.user_priority, a.attempt, null::jsonb
              from taskqueue.jobs_of_answer(taskqueue.answer_given(p_setup, v_id, 'match_jobs',
                                                                   taskqueue.asked_by(v_request.request))) a;
        exception when sqlstate 'PB001' then
          v_answer.error := jsonb_build_object('code', 'PB001', 'message', sqlerrm,
                                               'hint', 'Use a new request id for each request.');
        end;
      end if;
    end if;
    if v_answer.error is not null then
      return next v_answer;
    end if;
  end loop;
end $$;

comment on function taskqueue.open_requests(text, jsonb) is
  'The requests that are refused, and those that had their answer before, with it; the others are open.';
