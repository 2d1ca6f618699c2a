-- Jobs whose TaskQueue has space for all of them are inserted at once (one TaskQueue by itself takes 0.1 ms). The
-- others follow in the order of the requirements, so that two batches that open the same TaskQueues never deadlock. In
-- a database without statistics each of these TaskQueues would cost a pass over all the others, so the first large
-- batch analyzes the tables.
create or replace function taskqueue.place_batch(
  p_identity resource.identity, p_requirements jsonb[], p_numbers int[], p_job_ids bigint[], p_user_priorities int[],
  out task_queue_id bigint, out made bigint[]
)
language plpgsql as $$
declare
  v_setup text := p_identity.setup;
  v_task_queue_ids bigint[];
  v_batch record;
  v_opened int := 0;
begin
  made := '{}'::bigint[];
  if p_job_ids is null then
    return;
  elsif cardinality(p_requirements) = 1 then
    select p.task_queue_id, p.made into place_batch.task_queue_id, place_batch.made
      from taskqueue.place_jobs(v_setup, p_requirements[1], p_job_ids, p_user_priorities, p_identity) p;
    return;
  end if;
  with wanted as materialized (
    select d.definition_id, r.number, n.jobs
      from unnest(p_requirements) with ordinality r (canonical, number)
      join (select u.number, count(*) as jobs from unnest(p_numbers) u (number) group by u.number) n using (number)
      join taskqueue.definition d on d.setup = v_setup and d.digest = md5(r.canonical::text)::uuid
  ), there as materialized (
    select w.number, q.task_queue_id
      from taskqueue.task_queues_with_space(v_setup, (select array_agg(i.definition_id) from wanted i),
                                            (select s.queue_size from taskqueue.setting s where s.setup = v_setup)) q
      join wanted w using (definition_id)
     where q.space >= w.jobs
  )
  select array_agg(t.task_queue_id order by n.place) into v_task_queue_ids
    from unnest(p_numbers) with ordinality n (number, place) left join there t using (number);
  select array_agg(n.task_queue_id) as task_queue_ids, array_agg(n.job_id) as job_ids,
         array_agg(n.user_priority) as user_priorities
    into v_batch
    from unnest(v_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority)
   where n.task_queue_id is not null;
  perform taskqueue.fill_task_queues(v_setup, v_batch.task_queue_ids, v_batch.job_ids,
                                     v_batch.user_priorities, p_identity);
  perform taskqueue.refuse_leased_ids(v_setup, v_batch.job_ids, p_identity);
  for v_batch in
    select r.canonical, array_agg(n.job_id order by n.job_id) as job_ids,
           array_agg(n.user_priority order by n.job_id) as user_priorities
      from unnest(p_numbers, v_task_queue_ids, p_job_ids,
                  p_user_priorities) n (number, task_queue_id, job_id, user_priority)
      join unnest(p_requirements) with ordinality r (canonical, number) using (number)
     where n.task_queue_id is null
     group by r.number, r.canonical order by r.number
  loop
    made := made || (select p.made
                       from taskqueue.place_jobs(
                         v_setup, v_batch.canonical, v_batch.job_ids, v_batch.user_priorities, p_identity) p);
    v_opened := v_opened + 1;
    if v_opened = 50
       and not exists (select from pg_stats s where s.schemaname = 'taskqueue' and s.tablename = 'definition') then
      perform taskqueue.refresh_statistics();
    end if;
  end loop;
end $$;

comment on function taskqueue.place_batch(resource.identity, jsonb[], int[], bigint[], int[]) is
  'Puts jobs into TaskQueues. The arguments are canonical requirements in the order of their digests, and parallel '
  'arrays with the number of the requirements of each job, its id and its user priority. Returns the TaskQueue of the '
  'last job if all have the same requirements, and the TaskQueues made, for taskqueue.open_task_queues. Errors: '
  'PB002, PB005, naming the job.';
