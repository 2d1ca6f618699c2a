-- The work of taskqueue.insert_jobs. Requirements are made canonical once per distinct text, and go in the order of their digests, so that
-- two batches that open the same queues never wait for each other crosswise.
create or replace function taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) returns bigint[]
language plpgsql
as $$
declare
  v_batch record;
  v_made bigint[] := '{}'::bigint[];
begin
  for v_batch in
    with raw as materialized (
      select r.requirements, taskqueue.canonical_requirements(p_identity.setup, r.requirements) as canonical
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
    perform taskqueue.may_submit(p_identity, v_batch.canonical);
    v_made := v_made || (select p.made from taskqueue.place_jobs(p_identity.setup, v_batch.canonical, v_batch.job_ids, v_batch.user_priorities, p_identity) p);
  end loop;
  return v_made;
end $$;

comment on function taskqueue.place_batch(resource.identity, jsonb) is
'Puts the jobs of a checked batch into queues; returns the queues made, for taskqueue.open_queues. Errors: PB001, PB002, PB005, naming the job.';
