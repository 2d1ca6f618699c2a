-- Failed work is not tried again automatically; an operator who knows why it failed calls this. Tasks are taken in
-- order, as in every call that gives work back to them.
create or replace function lifecycle.retry_jobs(p_setup text, p_job_ids bigint[])
returns table (job_id bigint, answer text)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_unknown bigint;
  v_job record;
  v_back int := 0;
begin
  perform resource.identify(p_setup);
  select i
    into v_unknown
    from unnest(p_job_ids) i
   where not exists (select from workload.job j where j.setup = p_setup and j.job_id = i)
   limit 1;
  if found and exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = v_unknown
                        union all
                       select from taskqueue.lease l where l.setup = p_setup and l.job_id = v_unknown
                        union all
                       select from taskqueue.ended e where e.setup = p_setup and e.job_id = v_unknown) then
    raise exception 'job % belongs to no task', v_unknown
      using errcode = 'PB005',
            hint = 'It came straight into a TaskQueue: once it has ended, insert it again with its requirements.';
  elsif found or cardinality(p_job_ids) is null then
    raise exception 'there is no job % in setup %', coalesce(v_unknown::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Jobs are made by brokerage, or loaded.';
  end if;
  for v_job in
    select j.job_id, j.task_id, j.status, j.number
      from workload.job j
     where j.setup = p_setup and j.job_id = any (p_job_ids)
     order by j.task_id, j.job_id
       for update
  loop
    if v_job.status is null or not workload.is_end(v_job.status) or v_job.status = 'finished' then
      raise exception 'job % is %', v_job.job_id, coalesce(v_job.status, 'of no status')
        using errcode = 'PB005', hint = 'Failed, cancelled and closed jobs can be tried again.';
    end if;
    job_id := v_job.job_id;
    if v_job.number is null then
      answer := 'was not made here';
    elsif lifecycle.reopen_part(p_setup, v_job.job_id) then
      answer := format('its work is back in task %s', v_job.task_id);
      insert into workload.job_history (setup, at, job_id, from_status, to_status, role_name, why)
      values (p_setup, resource.clock(p_setup), v_job.job_id, v_job.status, v_job.status, resource.caller(),
              'retry_jobs: ' || answer);
    else
      answer := 'its work went back before';
    end if;
    v_back := v_back + (answer like 'its work is back%')::int;
    return next;
  end loop;
  if v_back > 0 then
    perform resource.note_change(p_setup, 'job', (select min(i) from unnest(p_job_ids) i)::text, null,
                                 jsonb_build_object('work given back', v_back));
  end if;
end $$;

comment on function lifecycle.retry_jobs(text, bigint[]) is
  'Gives the work of failed, cancelled or closed jobs back to their tasks, all or none: the next brokerage cycle makes '
  'new jobs from it, which keep the queues of the old ones. The history of the old jobs names the role that gave the '
  'work back. Errors: PB002 (setup not granted), PB004 (no such job), PB005 (it has not ended, has finished, or '
  'belongs to no task).';
