-- Sections 4 and 5: which waiting job should the worker node that just asked get (seed 004).
create or replace function taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
rows 1
as $$
begin
  return query select * from taskqueue.match_jobs(p_setup, p_resource, 1, p_request_id);
end $$;

comment on function taskqueue.match_job(text, jsonb, uuid) is
'Leases one waiting job to a resource; no row: nothing matches now. Later calls about the job present the attempt. The same request id within ten minutes gives the same job. Errors: PB001 (description; section 4), PB002 (setup not granted).';
