-- DRAWING.md, Order of the draw: which waiting job does the worker node get that just asked?
-- The planner's settings: a plan made while job_count_change or resource_seen is empty reads them whole, and stays
-- after they have grown (p99 5.0 ms instead of 1.2 ms at 5,000 matches after a vacuum); one plan for all calls saves
-- a connection its first five planned calls.
create or replace function taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
rows 1
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform taskqueue.enter_setup(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, 1);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, 1, p_request_id);
  end if;
end $$;

comment on function taskqueue.match_job(text, jsonb, uuid) is
  'Leases one waiting job to a resource; no row: nothing matches now. Later calls about the job present the attempt. '
  'The same request id within ten minutes gives the same job. Errors: PB001 (description), PB002 (setup not granted).';
