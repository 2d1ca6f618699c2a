-- As in an insertion, rows of jobs come first and ended rows go last, so that a retry and an insertion of the same id
-- lock in the same order. An ended row that is no longer as it was read belongs to another call: an insertion, another
-- retry, or taskqueue.forget_ended.
create or replace function taskqueue.place_ended(p_setup text, p_job_ids bigint[]) returns void
language plpgsql as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_read record;
  v_wrong record;
  v_state text;
  v_group record;
  v_placed record;
  v_taken taskqueue.ended[] := '{}'::taskqueue.ended[];
  v_made bigint[] := '{}'::bigint[];
begin
  select array_agg(e order by i.id) as ended, array_agg(i.id order by i.id) as job_ids,
         array_agg(e.outcome order by i.id) as outcomes, array_agg(e.brokered order by i.id) as brokered,
         array_agg(e.user_priority::int order by i.id) as priorities,
         array_agg(r.requirements order by i.id) as requirements
    into v_read
    from unnest(p_job_ids) i (id)
    left join taskqueue.ended e on e.setup = p_setup and e.job_id = i.id
   cross join lateral (
          select (select case when k.requirements ? 'Clauses'
                              then taskqueue.canonical_requirements(p_setup, k.requirements)
                              else taskqueue.with_gpus_kept(
                                     k.requirements || jsonb_build_object('CPUTime', taskqueue.cpu_bucket_of(
                                       p_setup, (k.requirements ->> 'CPUTime')::numeric)),
                                     (select s.keep_gpus from taskqueue.setting s where s.setup = p_setup)) end
                    from taskqueue.kept_definition k
                   where k.setup = p_setup and k.definition_id = e.definition_id) as requirements) r;
  select r.id, r.outcome, r.brokered into v_wrong
    from unnest(v_read.job_ids, v_read.outcomes, v_read.brokered, v_read.requirements)
           r (id, outcome, brokered, requirements)
   where r.requirements is null or r.outcome = 'finished' or r.brokered
   order by r.id limit 1;
  if found and v_wrong.brokered then
    raise exception 'job % belonged to a task, which no longer has the job', v_wrong.id
      using errcode = 'PB005', hint = 'Its part of the input was given back, or the task has no more parts to do.';
  elsif found and v_wrong.outcome in ('failed', 'cancelled', 'closed') then
    raise exception 'job % is %, and its requirements are no longer kept', v_wrong.id, v_wrong.outcome
      using errcode = 'PB005', hint = 'Insert it again with its requirements.';
  elsif found then
    v_state := coalesce(v_wrong.outcome, taskqueue.state_of_job(p_setup, v_wrong.id));
    -- a job that has ended since it was read is read again
    raise exception 'job % is %', v_wrong.id, v_state
      using errcode = case when v_state like 'ended%' then 'PB006' else 'PB005' end,
            hint = 'Failed, cancelled and closed jobs can be tried again.';
  end if;
  for v_group in
    select r.requirements, array_agg(r.job_id order by r.job_id) as ids,
           array_agg(r.priority order by r.job_id) as priorities
      from unnest(v_read.job_ids, v_read.priorities, v_read.requirements) r (job_id, priority, requirements)
     group by r.requirements
     order by md5(r.requirements::text)
  loop
    v_placed := taskqueue.place_jobs(p_setup, v_group.requirements, v_group.ids, v_group.priorities, v_identity);
    v_taken := v_taken || v_placed.ended;
    v_made := v_made || v_placed.made;
  end loop;
  select w.job_id into v_wrong
    from (select e.* from unnest(v_read.ended) e except select t.* from unnest(v_taken) t) w
   order by w.job_id limit 1;
  if found then
    raise exception 'other calls change job % all the time', v_wrong.job_id
      using errcode = 'PB006', hint = 'Try again.';
  end if;
  perform taskqueue.open_task_queues(p_setup, v_made);
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority,
                                 role_name, subject)
  select p_setup, resource.clock(p_setup), j.job_id, j.attempts, 'retried', j.task_queue_id, q.definition_id,
         j.user_priority, resource.caller(), (resource.subject()).name
    from taskqueue.job j
    join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = any (p_job_ids);
end $$;

comment on function taskqueue.place_ended(text, bigint[]) is
  'Puts ended jobs back into TaskQueues, as taskqueue.retry_ended describes. Errors: PB001 (an attribute '
  'that is gone), PB004, PB005, and PB006 (another call changed a job while this call worked).';
