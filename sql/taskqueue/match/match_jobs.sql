-- DRAWING.md, Guarantees of the draw: this is the batch form of taskqueue.match_job, with the same distribution and the
-- same settings of the planner.
create or replace function taskqueue.match_jobs(
  p_setup text, p_resource jsonb, p_limit int, p_request_id uuid default null
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_asked bigint;
  v_answer jsonb;
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'limit is %, which is not within 1..1000', coalesce(p_limit::text, 'null')
      using errcode = 'PB001', hint = 'Ask for 1 to 1000 jobs.';
  end if;
  perform taskqueue.enter_setup(p_setup);
  if p_limit = 1 then
    return query select * from taskqueue.match_job(p_setup, p_resource, p_request_id);
    return;
  elsif p_request_id is null then
    return query select * from taskqueue.lease_for_resource(p_setup, p_resource, p_limit);
    return;
  end if;
  v_asked := jsonb_hash_extended(p_resource, p_limit);
  v_answer := taskqueue.answer_given(p_setup, p_request_id, 'match_jobs', v_asked);
  if v_answer is null then
    select jsonb_agg(to_jsonb(m)) into v_answer from taskqueue.lease_for_resource(p_setup, p_resource, p_limit) m;
    if v_answer is not null then
      perform taskqueue.keep_answer(p_setup, p_request_id, 'match_jobs', v_asked, v_answer);
    end if;
  end if;
  return query select * from taskqueue.jobs_of_answer(v_answer);
end $$;

comment on function taskqueue.match_jobs(text, jsonb, int, uuid) is
  'Leases up to p_limit (1..1000) waiting jobs to a resource. No row means that no job matches now. The same request '
  'id within ten minutes gives the same jobs. Errors: PB001 (description), PB002 (setup not granted).';
