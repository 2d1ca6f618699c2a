-- An operator who knows why work failed calls this; for retry rules, its failures then count from 0. All callers lock
-- in one order: TaskQueues first, then jobs of tasks by their ids. Tasks are taken in order, as in every call that
-- gives work back to tasks.
create or replace function lifecycle.retry_jobs(p_setup text, p_job_ids bigint[])
returns table (job_id bigint, answer text)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_inserted bigint[];
  v_job record;
  v_back int := 0;
begin
  perform resource.identify(p_setup);
  v_inserted := array(select distinct i from unnest(coalesce(p_job_ids, array[null::bigint])) i
                       where not exists (select from workload.job j where j.setup = p_setup and j.job_id = i)
                       order by i);
  if v_inserted <> '{}' then
    perform taskqueue.retry_ended(p_setup, v_inserted);
    return query select i, 'waits again' from unnest(v_inserted) i;
  end if;
  perform from workload.job j where j.setup = p_setup and j.job_id = any (p_job_ids) order by j.job_id for update;
  perform from workload.failed_part f  -- before brokerage.task_state, as in lifecycle.give_back
    where f.setup = p_setup
      and (f.task_id, f.number) in (select j.task_id, j.number from workload.job j
                                     where j.setup = p_setup and j.job_id = any (p_job_ids))
    order by f.task_id, f.number for update;
  for v_job in
    select j.job_id, j.task_id, j.status, j.number
      from workload.job j
     where j.setup = p_setup and j.job_id = any (p_job_ids)
     order by j.task_id, j.job_id
  loop
    if v_job.status is null or not workload.is_end(v_job.status) or v_job.status = 'finished' then
      raise exception 'job % is %', v_job.job_id, coalesce(v_job.status, 'of no status')
        using errcode = 'PB005', hint = 'Failed, cancelled and closed jobs can be tried again.';
    end if;
    job_id := v_job.job_id;
    if v_job.number is null then
      answer := 'was not made here';
    elsif lifecycle.reopen_part(p_setup, v_job.job_id) then
      perform workload.forget_failures(p_setup, v_job.task_id, v_job.number);
      answer := format('its work is back in task %s', v_job.task_id);
      perform workload.note_given_back(p_setup, v_job.job_id, 'retry_jobs: ' || answer);
    else
      answer := 'its work went back before';
    end if;
    v_back := v_back + (answer like 'its work is back%')::int;
    return next;
  end loop;
  if v_back > 0 or v_inserted <> '{}' then
    perform resource.note_change(
      p_setup, 'job', (select min(i) from unnest(p_job_ids) i)::text, null,
      jsonb_strip_nulls(jsonb_build_object('work given back', nullif(v_back, 0),
                                           'waiting again', nullif(cardinality(v_inserted), 0))));
  end if;
end $$;

comment on function lifecycle.retry_jobs(text, bigint[]) is
  'Tries failed, cancelled or closed jobs again, all or none. The work of a job of a task goes back to its task: the '
  'next brokerage cycle makes new jobs from it, which keep the queues of the old ones. A job that came straight into a '
  'TaskQueue waits again, with the same id, requirements, user priority and payload. The history of the jobs names the '
  'role that asked. Errors: PB001 (the setup no longer has an attribute that the job names), PB002 (setup not '
  'granted), PB004 (no such job), PB005 (it has not ended, has finished, has left its task, or its requirements are no '
  'longer kept), PB006 (other calls change the same jobs all the time).';
