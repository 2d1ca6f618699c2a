-- DRAWING.md, Many agents at once: a match of one agent alone, as the service calls it.
create or replace function taskqueue.match_with_payload(p_setup text, p_resource jsonb, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text, payload jsonb)
language plpgsql rows 1
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform taskqueue.claim_request(p_setup, p_request_id);
  select m.* into job_id, task_queue_id, requirements, user_priority, attempt
    from taskqueue.match_job(p_setup, p_resource, p_request_id) m;
  if found then
    -- a repeated answer may name a job that has ended since then, whose id may belong to another owner now
    select coalesce(p.body, case when l.brokered then workload.payload_of_task(p_setup, l.job_id) end) into payload
      from taskqueue.lease l
      left join workload.payload p on p.setup = p_setup and p.job_id = l.job_id
     where l.setup = p_setup and l.job_id = match_with_payload.job_id
       and taskqueue.attempt_text(l.attempt, l.token) = match_with_payload.attempt;
    return next;
  end if;
end $$;

comment on function taskqueue.match_with_payload(text, jsonb, uuid) is
  'Leases a waiting job to a resource as taskqueue.match_job does, and returns it with its payload (null if it has '
  'none). Errors: those of taskqueue.match_job, and PB006 (a call with the same request id is still running).';
