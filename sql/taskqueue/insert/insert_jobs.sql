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
  v_payloads record;
  v_made bigint[];
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
  v_count := taskqueue.check_batch(p_jobs);
  select b.* into v_payloads from taskqueue.batch_payloads(p_setup, p_jobs) b;
  -- Two batches with the same ids under different requirements can deadlock: the one that PostgreSQL cancels starts
  -- again a moment later, at random, so that the two do not meet again.
  for v_try in 1..20 loop
    begin
      v_made := taskqueue.place_batch(v_identity, p_jobs);
      perform workload.set_payloads(p_setup, v_payloads.job_ids, v_payloads.payloads);
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert the same jobs at the same time' using errcode = 'PB006',
         hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_task_queues(p_setup, v_made);
  perform taskqueue.keep_answer(p_setup, p_request_id, 'insert_jobs', v_asked, to_jsonb(v_count));
  return v_count;
end $$;

comment on function taskqueue.insert_jobs(text, jsonb, uuid) is
  'Inserts jobs, up to 100,000 a call, all or none, and returns how many (ids as in taskqueue.insert_job). An element '
  'is {job_id, requirements, user_priority, payload} or a group {requirements, jobs: [[id, user_priority, payload], '
  '...]}; payload: what the agent needs to run the job. Errors: PB001, PB002, PB005, naming the job; PB006 '
  '(other calls insert the same jobs all the time).';
