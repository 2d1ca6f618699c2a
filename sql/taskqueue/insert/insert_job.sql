-- MATCHING.md, Insertion.
create or replace function taskqueue.insert_job(
  p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority int default 1, p_request_id uuid default null,
  p_payload jsonb default null
) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_requirements jsonb;
  v_asked bigint;
  v_answer jsonb;
begin
  if pg_column_size(p_requirements) > 4096 then
    perform taskqueue.require_within(p_setup, 'requirements_size', 'requirements',
                                     taskqueue.json_size(p_requirements));
  end if;
  if p_payload is not null then
    perform taskqueue.require_payloads(p_setup, 'job', array[p_job_id], array[p_payload]);
  end if;
  if p_request_id is not null then
    v_asked := jsonb_hash_extended(
      jsonb_build_array(p_job_id, p_requirements, p_user_priority, p_payload), 0);
  end if;
  perform taskqueue.enter_setup(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(p_setup, p_request_id, 'insert_job', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_requirements := taskqueue.canonical_requirements(p_setup, p_requirements);
  perform taskqueue.may_submit(v_identity, v_requirements);
  v_answer := to_jsonb(taskqueue.insert_together(
    v_identity, array[v_requirements], array[1], array[taskqueue.submitted_id(to_jsonb(p_job_id))],
    array[taskqueue.job_priority(p_job_id, p_user_priority)], array[nullif(p_payload, 'null')]));
  perform taskqueue.keep_answer(p_setup, p_request_id, 'insert_job', v_asked, v_answer);
  return v_answer::bigint;
end $$;

comment on function taskqueue.insert_job(text, bigint, jsonb, int, uuid, jsonb) is
  'Inserts a waiting job and returns its TaskQueue; ids are 1 to 10^12 - 1, and a job that already waits is moved. The '
  'same request id within ten minutes gives the same answer. p_payload: the data that the agent needs to run the job '
  '(taskqueue.payloads). Errors: PB001 (requirements, id, priority, payload), PB002 (setup or owner not granted), '
  'PB005 (leased, or a brokered job), PB006 (other calls insert the same job all the time).';
