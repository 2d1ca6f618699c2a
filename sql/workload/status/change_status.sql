-- See STATES.md, Who changes states. The caller names the status from which a job changes, so that two callers with the
-- same decision change the job once. Batches lock jobs, and record them in the history, in the order of ids. A single
-- job has statements of its own, which take 190 us; the statement for many jobs takes 500 us. One change in a thousand
-- folds changes into the counts, so that few changes remain if nobody else folds. A long transaction does not fold,
-- because it would block others from folding.
create or replace function workload.change_status(
  p_setup text, p_job_ids bigint[], p_from text, p_to text, p_why text, p_sub_status text default null
) returns bigint[]
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_job record;
  v_changed bigint[];
begin
  if hashint8(pg_current_xact_id()::text::bigint) & 1023 < cardinality(p_job_ids)
     and clock_timestamp() < transaction_timestamp() + interval '1 second' then
    perform workload.fold_counts(5000);
  end if;
  if cardinality(p_job_ids) = 1 then
    update workload.job j
       set status = p_to, sub_status = p_sub_status, modified = v_now, state_changed = v_now,
           activated = case when p_to = 'activated' then v_now else j.activated end,
           started = case when p_to = 'running' then v_now when p_to <> 'activated' then j.started end,
           ended = case when p_to in ('finished', 'failed', 'cancelled', 'closed') then v_now end
     where j.setup = p_setup and j.job_id = p_job_ids[1] and j.status = p_from
       and exists (select from workload.transition t where t.from_status = p_from and t.to_status = p_to)
    returning j.job_id, j.task_id, j.queue, j.gshare, j.resource_type, j.nucleus, j.label, j.user_name, j.working_group,
              j.processing_type, j.cores, j.disk_io
      into v_job;
    if found then
      insert into workload.job_history (setup, at, job_id, from_status, to_status, role_name, why)
      values (p_setup, v_now, v_job.job_id, p_from, p_to, resource.caller(), p_why);
      insert into workload.job_change (setup, at, jobs, from_status, to_status, task_id, queue, gshare, resource_type,
                                       nucleus, label, user_name, working_group,
                                       processing_type, cores, disk_io, disk_io_jobs)
      values (p_setup, v_now, 1, p_from, p_to, v_job.task_id, v_job.queue, v_job.gshare, v_job.resource_type,
              v_job.nucleus, v_job.label, v_job.user_name,
              v_job.working_group, v_job.processing_type, coalesce(v_job.cores, 1), v_job.disk_io::numeric,
              (v_job.disk_io is not null)::int);
      return p_job_ids;
    end if;
  end if;
  if not exists (select from workload.transition t where t.from_status = p_from and t.to_status = p_to) then
    raise exception '% is % and cannot become %', coalesce('job ' || p_job_ids[1], 'a job'),
      coalesce(p_from, 'of no status'), coalesce(p_to, 'null')
      using errcode = 'PB005', hint = 'monitor.transition lists the possible changes.';
  elsif cardinality(p_job_ids) < 2 then
    return '{}'::bigint[];
  end if;
  perform from workload.job j where j.setup = p_setup and j.job_id = any (p_job_ids) order by j.job_id for update;
  with changed as (
    update workload.job j
       set status = p_to, sub_status = p_sub_status, modified = v_now, state_changed = v_now,
           activated = case when p_to = 'activated' then v_now else j.activated end,
           started = case when p_to = 'running' then v_now when p_to <> 'activated' then j.started end,
           ended = case when p_to in ('finished', 'failed', 'cancelled', 'closed') then v_now end
     where j.setup = p_setup and j.job_id = any (p_job_ids) and j.status = p_from
    returning j.job_id, j.task_id, j.queue, j.gshare, j.resource_type, j.nucleus, j.label, j.user_name, j.working_group,
              j.processing_type, j.cores, j.disk_io
  ), noted as (
    insert into workload.job_history (setup, at, job_id, from_status, to_status, role_name, why)
    select p_setup, v_now, c.job_id, p_from, p_to, resource.caller(), p_why from changed c
     order by c.job_id
  ), counted as (
    insert into workload.job_change (setup, at, jobs, from_status, to_status, task_id, queue, gshare, resource_type,
                                     nucleus, label, user_name, working_group,
                                     processing_type, cores, disk_io, disk_io_jobs)
    select p_setup, v_now, count(*), p_from, p_to, c.task_id, c.queue, c.gshare, c.resource_type, c.nucleus, c.label,
           c.user_name, c.working_group, c.processing_type,
           sum(coalesce(c.cores, 1)), sum(c.disk_io::numeric), count(c.disk_io)
      from changed c
     group by c.task_id, c.queue, c.gshare, c.resource_type, c.nucleus, c.label, c.user_name,
              c.working_group, c.processing_type
  )
  select array_agg(c.job_id order by c.job_id) into v_changed from changed c;
  return coalesce(v_changed, '{}'::bigint[]);
end $$;

comment on function workload.change_status(text, bigint[], text, text, text, text) is
  'Changes the status of the given jobs that have the status p_from, with history and counts, and returns their ids; '
  'other jobs are not touched. p_why and p_sub_status give details. Errors: PB005 (there is no such change).';
