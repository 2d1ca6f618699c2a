-- MATCHING.md, Insertion: the batch form, and the fast way to load.
create or replace function taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid default null)
returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked bigint;
  v_answer jsonb;
  v_count bigint;
  v_read record;
begin
  perform taskqueue.require_within(p_setup, 'batch_size', 'jobs', taskqueue.json_size(p_jobs));
  if p_request_id is not null then
    v_asked := jsonb_hash_extended(p_jobs, 0);
  end if;
  perform taskqueue.enter_setup(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(p_setup, p_request_id, 'insert_jobs', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_read := taskqueue.read_batch(p_setup, p_jobs, false);
  v_count := coalesce(cardinality(v_read.job_ids), 0);
  perform taskqueue.may_submit(v_identity, r) from unnest(v_read.requirements) r;
  perform taskqueue.insert_together(v_identity, v_read.requirements, v_read.numbers, v_read.job_ids,
                                    v_read.user_priorities, v_read.payloads);
  perform taskqueue.keep_answer(p_setup, p_request_id, 'insert_jobs', v_asked, to_jsonb(v_count));
  return v_count;
end $$;

comment on function taskqueue.insert_jobs(text, jsonb, uuid) is
  'Inserts up to 100,000 jobs per call, all or none, and returns how many (ids as in taskqueue.insert_job). An element '
  'is {job_id, requirements, user_priority, payload} or a group {requirements, jobs: [[id, user_priority, payload], '
  '...]}; payload: the data that the agent needs to run the job. Errors: PB001, PB002, PB005, naming the job; PB006 '
  '(other calls insert the same jobs all the time).';
