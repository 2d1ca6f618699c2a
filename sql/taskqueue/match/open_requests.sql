-- LEASES.md, Repeated requests, for many requests at once. Ids are locked in their order, and the call does not wait.
-- It refuses an id that another transaction has locked, since that transaction may still give the id an answer.
create or replace function taskqueue.open_requests(p_setup text, p_requests taskqueue.match_request[])
returns setof taskqueue.answer
language plpgsql as $$
declare
  v_role text := resource.caller();
  v_busy uuid[] := '{}'::uuid[];
  v_id uuid;
  v_request taskqueue.match_request;
begin
  foreach v_id in array array(
    select r.request_id from unnest(p_requests) r where r.request_id is not null order by r.request_id)
  loop
    if not pg_try_advisory_xact_lock(hashtextextended(p_setup || v_role || v_id, 1)) then
      v_busy := v_busy || v_id;
    end if;
  end loop;
  return query
    select r.number, null::bigint, null::bigint, null::jsonb, null::int, null::text,
           coalesce(r.error,
                    jsonb_build_object('code', 'PB006', 'message', format('request id %s is busy', r.request_id),
                                       'hint', 'The first call with this id is still running. Ask again.'))
      from unnest(p_requests) r
     where r.error is not null or r.request_id = any (v_busy);
  -- answers are looked up when all ids are locked, so no other call with one of the ids is still running
  for v_request in
    select r.*
      from unnest(p_requests) r
     cross join lateral (
       select from taskqueue.request q
        where q.setup = p_setup and q.role_name = v_role and q.request_id = r.request_id
        union all
       select from taskqueue.lease l where l.setup = p_setup and l.request_id = r.request_id limit 1) known
     where r.request_id <> all (v_busy)
  loop
    begin
      return query
        select v_request.number, a.*, null::jsonb
          from taskqueue.jobs_of_answer(taskqueue.answer_given(
                 p_setup, v_request.request_id, 'match_jobs',
                 taskqueue.asked_by(v_request.resources, v_request.jobs))) a;
    exception when sqlstate 'PB001' then
      return next row(v_request.number, null, null, null, null, null,
                      jsonb_build_object('code', 'PB001', 'message', sqlerrm, 'hint',
                                         'Use a new request id for each request.'))::taskqueue.answer;
    end;
  end loop;
end $$;

comment on function taskqueue.open_requests(text, taskqueue.match_request[]) is
  'The requests that are refused, and those that already had an answer, with that answer. All others are open.';
