-- DRAWING.md, Many agents at once: requests of many resources in one transaction, for a service that calls for them.
-- Requests whose jobs can all be drawn side by side come first (taskqueue.lease_together), then the others in their
-- order. A request that got no job for one resource asks for the next one in the next round. A refused request does not
-- affect the others. The planner's settings are those of taskqueue.match_job.
create or replace function taskqueue.match_many(p_setup text, p_requests jsonb)
returns table (request int, job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text,
               error jsonb, payload jsonb)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity;
  v_requests taskqueue.match_request[];
  v_answers taskqueue.answer[];
  v_got taskqueue.answer[];
  v_new taskqueue.answer[] := '{}'::taskqueue.answer[];
  v_open int[];
begin
  perform taskqueue.enter_setup(p_setup);
  v_identity := resource.identify(p_setup);
  perform taskqueue.check_requests(p_setup, p_requests);
  v_requests := taskqueue.read_requests(p_requests);
  -- requests that are refused, or that already had their answer
  v_answers := array(select a from taskqueue.open_requests(p_setup, v_requests) a);
  v_open := array(select r.number from unnest(v_requests) r
                   where r.number <> all (array(select a.request from unnest(v_answers) a)));
  for v_alternative in 0..9 loop
    exit when v_open = '{}';
    v_got := array(
      select a from taskqueue.lease_alternatives(p_setup, v_identity, v_requests, v_open, v_alternative) a);
    v_new := v_new || v_got;
    v_open := array(select o from unnest(v_open) o
                     where o <> all (array(select g.request from unnest(v_got) g))
                       and jsonb_array_length((v_requests[o]).resources) > v_alternative + 1);
  end loop;
  perform taskqueue.keep_answers(p_setup, v_requests, v_new);
  return query
    select a.*, coalesce(p.body, case when l.brokered then workload.payload_of_task(p_setup, l.job_id) end)
      from unnest(v_answers || v_new) a
      -- the id of a job that has ended since then may belong to another owner now
      left join taskqueue.lease l on l.setup = p_setup and l.job_id = a.job_id
                                 and taskqueue.attempt_text(l.attempt, l.token) = a.attempt
      left join workload.payload p on p.setup = p_setup and p.job_id = l.job_id
     order by a.request, a.job_id is null;
end $$;

comment on function taskqueue.match_many(text, jsonb) is
  'Leases jobs for up to 1000 requests [{resources, n, request_id}, ...] in one transaction. resources: descriptions '
  'of the resource in the order of preference, at most 10; the first that yields a job counts. n: number of jobs '
  '(default 1; 1000 in all). request_id: as for taskqueue.match_jobs. subject: the identity that asks, given by the '
  'service alone. Returns a row for each job, with its payload, and for each refused request; a request without a row '
  'gets no job now. Errors of the call: PB001 (the list), PB002 (setup not granted). Errors of a request, in its row: '
  'PB001 (request or description), PB002 (subject), PB006 (its request id is busy).';
