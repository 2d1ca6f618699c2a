-- The work of taskqueue.insert_jobs. Requirements are made canonical once per distinct text. Jobs for which a
-- TaskQueue has space for all that come are filled in at once (a TaskQueue alone takes 0.1 ms); the others go in the
-- order of their digests, so that two batches that open the same TaskQueues never deadlock. In a database without
-- statistics each of these TaskQueues would cost a pass over all the others: the first large batch counts the tables.
create or replace function taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) returns bigint[]
language plpgsql as $$
declare
  v_setup text := p_identity.setup;
  v_requirements jsonb[];
  v_digests uuid[];
  v_numbers int[];
  v_job_ids bigint[];
  v_user_priorities int[];
  v_task_queue_ids bigint[];
  v_batch record;
  v_made bigint[] := '{}'::bigint[];
  v_opened int := 0;
begin
  with raw as materialized (
    select r.requirements, taskqueue.canonical_requirements(v_setup, r.requirements) as canonical
      from (select distinct e -> 'requirements' as requirements from jsonb_array_elements(p_jobs) e) r
  ), canonical as materialized (
    select c.canonical, c.digest, row_number() over (order by c.digest) as number
      from (select distinct r.canonical, md5(r.canonical::text)::uuid as digest from raw r) c
  ), job as materialized (
    select c.number, n.job_id::bigint as job_id, n.user_priority::int as user_priority
      from jsonb_array_elements(p_jobs) e
      join raw r on r.requirements = e -> 'requirements'
      join canonical c using (canonical)
     cross join lateral (
            select e -> 'job_id' as job_id, coalesce(e -> 'user_priority', '1') as user_priority where not e ? 'jobs'
            union all
            select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n
  )
  select array(select c.canonical from canonical c order by c.number),
         array(select c.digest from canonical c order by c.number),
         array_agg(j.number), array_agg(j.job_id), array_agg(j.user_priority)
    into v_requirements, v_digests, v_numbers, v_job_ids, v_user_priorities from job j;
  perform taskqueue.may_submit(p_identity, r) from unnest(v_requirements) r;
  with wanted as materialized (
    select d.definition_id, r.number, n.jobs
      from unnest(v_digests) with ordinality r (digest, number)
      join (select u.number, count(*) as jobs from unnest(v_numbers) u (number) group by u.number) n using (number)
      join taskqueue.definition d on d.setup = v_setup and d.digest = r.digest
  ), there as materialized (
    select w.number, q.task_queue_id
      from taskqueue.task_queues_with_space(v_setup, (select array_agg(i.definition_id) from wanted i),
                                            (select s.queue_size from taskqueue.setting s where s.setup = v_setup)) q
      join wanted w using (definition_id)
     where q.space >= w.jobs
  )
  select array_agg(t.task_queue_id order by n.place) into v_task_queue_ids
    from unnest(v_numbers) with ordinality n (number, place) left join there t using (number);
  select array_agg(n.task_queue_id) as task_queue_ids, array_agg(n.job_id) as job_ids,
         array_agg(n.user_priority) as user_priorities
    into v_batch
    from unnest(v_task_queue_ids, v_job_ids, v_user_priorities) n (task_queue_id, job_id, user_priority)
   where n.task_queue_id is not null;
  perform taskqueue.fill_task_queues(v_setup, v_batch.task_queue_ids, v_batch.job_ids,
                                     v_batch.user_priorities, p_identity);
  perform taskqueue.refuse_leased_ids(v_setup, v_batch.job_ids);
  for v_batch in
    select r.canonical, array_agg(n.job_id order by n.job_id) as job_ids,
           array_agg(n.user_priority order by n.job_id) as user_priorities
      from unnest(v_numbers, v_task_queue_ids, v_job_ids,
                  v_user_priorities) n (number, task_queue_id, job_id, user_priority)
      join unnest(v_requirements) with ordinality r (canonical, number) using (number)
     where n.task_queue_id is null
     group by r.number, r.canonical order by r.number
  loop
    v_made := v_made || (select p.made
                           from taskqueue.place_jobs(
                             v_setup, v_batch.canonical, v_batch.job_ids, v_batch.user_priorities, p_identity) p);
    v_opened := v_opened + 1;
    if v_opened = 50
       and not exists (select from pg_stats s where s.schemaname = 'taskqueue' and s.tablename = 'definition') then
      perform taskqueue.refresh_statistics();
    end if;
  end loop;
  return v_made;
end $$;

comment on function taskqueue.place_batch(resource.identity, jsonb) is
  'Puts the jobs of a checked batch into TaskQueues; returns the TaskQueues made, for taskqueue.open_task_queues. '
  'Errors: PB001, PB002, PB005, naming the job.';
