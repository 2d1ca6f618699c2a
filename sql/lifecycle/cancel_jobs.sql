-- after: workload.is_end
-- Jobs that wait or are on their way end at once, those that an agent has are marked for kill, and the agent is told at its next report.
create or replace function lifecycle.cancel_jobs(p_setup text, p_job_ids bigint[], p_reason text default 'cancelled') returns table (job_id bigint, answer text)
language plpgsql
security definer set search_path = lifecycle, pg_temp
as $$
declare
  v_status text;
begin
  perform resource.identify(p_setup);
  if p_reason is null or p_reason = '' then
    raise exception 'reason is %', coalesce(quote_literal(p_reason), 'null') using errcode = 'PB001', hint = 'Say why, the agent is told.';
  end if;
  for job_id in select distinct i from unnest(p_job_ids) i order by i loop
    loop  -- until nobody moved it between one look and the other
      select j.status into v_status from workload.job j where j.setup = p_setup and j.job_id = cancel_jobs.job_id;
      begin
        answer := taskqueue.cancel_job(p_setup, job_id, p_reason);
        exit;
      exception when sqlstate 'PB004' then  -- no TaskQueue has it
        if v_status is null then
          raise;
        elsif workload.is_end(v_status) then
          answer := 'has ended: ' || v_status;
          exit;
        end if;
      end;
      if workload.change_status(p_setup, array[job_id], v_status, 'cancelled', p_reason) <> '{}' then
        answer := 'ended';
        exit;
      end if;
    end loop;
    return next;
  end loop;
end $$;

comment on function lifecycle.cancel_jobs(text, bigint[], text) is
'Cancels jobs, all or none: each is answered ended, kill asked (its agent is told at its next report), or that it has ended. Errors: PB001 (no reason), PB002 (setup or owner not granted), PB004 (no such job).';
