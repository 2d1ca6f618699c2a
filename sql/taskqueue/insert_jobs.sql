-- Section 3: the batch form, and the fast way to load. Requirements are made canonical once per distinct text, and go in the order of
-- their digests, so that two batches never wait for each other crosswise.
create or replace function taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid := case when p_request_id is not null then md5(p_jobs::text)::uuid end;
  v_answer jsonb;
  v_count bigint;
  v_batch record;
  v_made bigint[] := '{}'::bigint[];
begin
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.enter(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_jobs', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_count := taskqueue.check_batch(p_jobs);
  for v_batch in
    with raw as materialized (
      select r.requirements, taskqueue.canonical_requirements(p_setup, r.requirements) as canonical
        from (select distinct e -> 'requirements' as requirements from jsonb_array_elements(p_jobs) e) r
    ), job as (
      select r.canonical, n.job_id, n.user_priority
        from jsonb_array_elements(p_jobs) e
        join raw r on r.requirements = e -> 'requirements'
       cross join lateral (
              select e -> 'job_id' as job_id, coalesce(e -> 'user_priority', '1') as user_priority where not e ? 'jobs'
              union all
              select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n
    )
    select j.canonical, array_agg(j.job_id::bigint order by j.job_id::bigint) as job_ids,
           array_agg(j.user_priority::int order by j.job_id::bigint) as user_priorities
      from job j group by j.canonical order by md5(j.canonical::text)::uuid
  loop
    perform taskqueue.may_submit(v_identity, v_batch.canonical);
    v_made := v_made || (select p.made from taskqueue.place_jobs(p_setup, v_batch.canonical, v_batch.job_ids, v_batch.user_priorities) p);
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_jobs', v_asked, to_jsonb(v_count));
  return v_count;
end $$;

comment on function taskqueue.insert_jobs(text, jsonb, uuid) is
'Inserts jobs, up to 100,000 a call, all or none, and returns how many. An element is {job_id, requirements, user_priority} or a group {requirements, jobs: [[id, user_priority], ...]}. Errors: PB001, PB002, PB005, naming the job.';
