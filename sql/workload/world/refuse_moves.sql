create or replace function workload.refuse_moves(p_setup text, p_job_ids bigint[], p_statuses text[]) returns void
language plpgsql as $$
declare
  v_moved record;
begin
  select m.job_id, m.status, j.status as stored, j.job_id is null as is_gone
    into v_moved
    from unnest(p_job_ids, p_statuses) m (job_id, status)
    left join workload.job j on j.setup = p_setup and j.job_id = m.job_id
   where j.status is distinct from m.status
   order by m.job_id
   limit 1;
  if found then
    raise exception 'job %: status is % here, and cannot be %', v_moved.job_id, v_moved.status,
      case when v_moved.is_gone then 'deleted' else 'loaded as ' || v_moved.stored end
      using errcode = 'PB005',
            hint = 'Leave the job out. lifecycle.cancel_jobs ends jobs, lifecycle.retry_jobs makes new ones.';
  end if;
end $$;

comment on function workload.refuse_moves(text, bigint[], text[]) is
  'Refuses the changes of workload.store if they changed the status of one of these jobs or deleted one. Errors: '
  'PB005, naming the job and both statuses.';
