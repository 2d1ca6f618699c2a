-- LEASES.md, Repeated requests: a match with a request id; the same call again gives the same jobs.
create or replace function taskqueue.match_once(p_setup text, p_resource jsonb, p_limit int, p_request_id uuid)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid;
  v_answer jsonb;
begin
  if pg_column_size(p_resource) > 4096 then
    perform taskqueue.require_within(p_setup, 'description_size', 'resource description',
                                     taskqueue.json_size(p_resource));
  end if;
  v_asked := md5(jsonb_build_array(p_resource, p_limit)::text)::uuid;
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'match_jobs', v_asked);
  if v_answer is null then
    if p_limit = 1 and p_request_id is not null then
      select jsonb_agg(to_jsonb(m)) into v_answer from taskqueue.match_job(p_setup, p_resource) m;
    else
      select jsonb_agg(to_jsonb(m)) into v_answer from taskqueue.lease_batch(p_setup, p_resource, p_limit) m;
    end if;
    if v_answer is null then
      return;
    end if;
    perform taskqueue.keep_answer(v_identity, p_request_id, 'match_jobs', v_asked, v_answer);
  end if;
  return query
  select *
    from jsonb_to_recordset(v_answer) as (job_id bigint, task_queue_id bigint, requirements jsonb,
                                          user_priority int, attempt text);
end $$;

comment on function taskqueue.match_once(text, jsonb, int, uuid) is
  'taskqueue.match_jobs for a request that may be repeated. Errors: PB001 (description), PB002 (setup not granted).';
