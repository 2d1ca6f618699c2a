-- DRAWING.md, Guarantees of the draw: with a seed the outcome is reproducible. Only operators and tests call this;
-- agents cannot choose their draws.
create or replace function taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit int, p_seed bigint)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'limit is %, which is not within 1..1000', coalesce(p_limit::text, 'null')
      using errcode = 'PB001', hint = 'Ask for 1 to 1000 jobs.';
  end if;
  perform taskqueue.enter_setup(p_setup);
  return query select * from taskqueue.lease_for_resource(p_setup, p_resource, p_limit, p_seed);
end $$;

comment on function taskqueue.match_jobs_with_seed(text, jsonb, int, bigint) is
  'Works like taskqueue.match_jobs with draws that follow from a seed: the same seed over the same TaskQueues, '
  'posting lists and known matches takes the same jobs. Errors: PB001, PB002.';
