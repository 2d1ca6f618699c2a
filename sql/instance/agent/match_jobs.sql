-- LEASES.md, Repeated requests: a repeated call returns the same jobs, as in taskqueue.match_jobs.
create or replace function instance.match_jobs(
  p_setup text, p_instance_id bigint, p_limit int default 100, p_resource jsonb default '{}',
  p_spare boolean default false, p_request_id uuid default null
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql security definer set search_path = instance, pg_temp as $$
declare
  v_asked bigint;
  v_answer jsonb;
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_within(p_setup, 'description_size', 'resource description',
                                   taskqueue.json_size(p_resource));
  v_asked := jsonb_hash_extended(jsonb_build_array(p_instance_id, p_limit, p_resource, p_spare), 0);
  perform resource.require_known_setup(p_setup);
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'limit is %, not within 1..1000', coalesce(p_limit::text, 'null')
      using errcode = 'PB001', hint = 'Ask for 1 to 1000 jobs.';
  end if;
  if jsonb_typeof(p_resource) is distinct from 'object' then
    raise exception 'resource description is %, not a JSON object', coalesce(resource.shown(p_resource), 'null')
      using errcode = 'PB001',
            hint = 'The cores and the memory of the instance are known; give its other properties, '
                   'such as Platform, or {}.';
  end if;
  v_answer := taskqueue.answer_given(p_setup, p_request_id, 'instance.match_jobs', v_asked);
  if v_answer is null then
    select jsonb_agg(to_jsonb(t))
      into v_answer
      from instance.take_jobs(p_setup, p_instance_id, p_limit, p_resource, coalesce(p_spare, false)) t;
    if v_answer is not null then
      perform taskqueue.keep_answer(p_setup, p_request_id, 'instance.match_jobs', v_asked, v_answer);
    end if;
  end if;
  return query select * from taskqueue.jobs_of_answer(v_answer);
end $$;

comment on function instance.match_jobs(text, bigint, int, jsonb, boolean, uuid) is
  'Leases jobs of TaskQueues to the agent of an instance, as taskqueue.match_jobs does: up to p_limit (1..1000) jobs '
  'whose steps are placed on the instance and that are not leased. With p_spare the agent also gets other jobs that '
  'fit into the free cores and memory (of the PanDA queue of the instance, if it has one), and their steps are placed '
  'on the instance. p_resource adds other properties of the instance (Platform, Tag, CPUTime) to the resource '
  'description. The call marks the instance as running. A repeated request id within ten minutes returns the same '
  'jobs. Errors: PB001 (description, limit, no such setup), PB002 (setup not granted), PB004 (the instance does not '
  'exist or is released: its agent can stop).';
