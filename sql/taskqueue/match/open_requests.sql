-- LEASES.md, Repeated requests: of many requests at once. Ids are locked in their order and nobody waits: an id that
-- another transaction has locked is refused, since that call may still give it an answer.
create or replace function taskqueue.open_requests(p_setup text, p_requests jsonb) returns setof taskqueue.answer
language plpgsql as $$
declare
  v_request record;
  v_answer taskqueue.answer;
  v_last uuid;
  v_locked int[] := '{}'::int[];
  v_is_service boolean := resource.is_service();
begin
  perform resource.identify(p_setup);
  for v_request in
    select r.*, case when r.fault is null then nullif(r.request ->> 'request_id', '')::uuid end as id
      from (select e.n::int as n, e.request, taskqueue.request_fault(e.request) as fault
              from jsonb_array_elements(p_requests) with ordinality e (request, n) offset 0) r
     order by case when jsonb_typeof(r.request) = 'object' then lower(r.request ->> 'request_id') end, r.n
  loop
    v_answer := row(v_request.n, null, null, null, null, null, null)::taskqueue.answer;
    if v_request.fault is not null then
      v_answer.error := jsonb_build_object('code', 'PB001', 'message', v_request.fault, 'hint',
                                           'A request is {"resources": [{...}, ...], "n": 1, "request_id": "..."}.');
    elsif v_request.request ->> 'subject' is not null and not v_is_service then
      v_answer.error := jsonb_build_object('code', 'PB002', 'message', 'subject is for the service alone', 'hint',
                                           'Leave it out: the login is who asks.');
    elsif v_request.id = v_last then
      v_answer.error := jsonb_build_object('code', 'PB001',
                                           'message', format('request id %s stands twice in the call', v_last),
                                           'hint', 'Use a new request id for each request.');
    elsif v_request.id is not null then
      v_last := v_request.id;
      if pg_try_advisory_xact_lock(hashtextextended(p_setup || resource.caller() || v_last, 1)) then
        v_locked := v_locked || v_request.n;
      else
        v_answer.error := jsonb_build_object('code', 'PB006', 'message', format('request id %s is busy', v_last),
                                             'hint', 'The first call with it still runs. Ask again.');
      end if;
    end if;
    if v_answer.error is not null then
      return next v_answer;
    end if;
  end loop;
  -- looked up when all locks are held: a call that had one of them has ended
  for v_request in
    select r.n, r.request, r.id
      from (select e.n::int as n, e.request, (e.request ->> 'request_id')::uuid as id
              from jsonb_array_elements(p_requests) with ordinality e (request, n)
             where e.n = any (v_locked) offset 0) r
     where exists (select from taskqueue.request q
                    where q.setup = p_setup and q.role_name = resource.caller() and q.request_id = r.id)
        or exists (select from taskqueue.lease l where l.setup = p_setup and l.request_id = r.id)
  loop
    begin
      return query
        select v_request.n, a.job_id, a.task_queue_id, a.requirements, a.user_priority, a.attempt, null::jsonb
          from taskqueue.jobs_of_answer(taskqueue.answer_given(p_setup, v_request.id, 'match_jobs',
                                                               taskqueue.asked_by(v_request.request))) a;
    exception when sqlstate 'PB001' then
      return next row(v_request.n, null, null, null, null, null,
                      jsonb_build_object('code', 'PB001', 'message', sqlerrm, 'hint',
                                         'Use a new request id for each request.'))::taskqueue.answer;
    end;
  end loop;
end $$;

comment on function taskqueue.open_requests(text, jsonb) is
  'The requests that are refused, and those that had their answer before, with it; the others are open.';
