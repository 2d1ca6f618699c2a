-- STATES.md, Transitions: a waiting job ends at once. A leased job is marked for kill, and the next report of its agent
-- is answered with kill. The call takes brokered jobs and jobs that were only inserted. A private submitter can cancel
-- its own jobs that wait or are leased.
create or replace function lifecycle.cancel_jobs(p_setup text, p_job_ids bigint[], p_reason text default 'cancelled')
returns table (job_id bigint, answer text)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_status text;
  v_ended int := 0;
  v_asked int := 0;
begin
  perform taskqueue.require_reason(p_setup, p_reason);
  if cardinality(p_job_ids) > 100000 then
    raise exception '% jobs in one call', cardinality(p_job_ids)
      using errcode = 'PB001', hint = 'A call takes up to 100,000 jobs; use several calls.';
  end if;
  if cardinality(p_job_ids) > 1 then  -- a TaskQueue that a job leaves empty keeps its lists locked for the next jobs
    perform taskqueue.join_line(p_setup);
  else
    perform taskqueue.enter_setup(p_setup);
  end if;
  for job_id in select distinct i from unnest(p_job_ids) i order by i loop
    loop  -- until no other transaction has moved the job between the two reads
      select j.status into v_status from workload.job j where j.setup = p_setup and j.job_id = cancel_jobs.job_id;
      answer := taskqueue.cancel_if_there(p_setup, job_id, p_reason, v_identity);
      exit when answer is not null;
      v_status := coalesce(v_status, (
        select e.outcome from taskqueue.ended e where e.setup = p_setup and e.job_id = cancel_jobs.job_id));
      if v_status is null or v_identity.private then
        answer := taskqueue.cancel_job(p_setup, job_id, p_reason);  -- it raises PB004, unless the job came in between
        exit;
      elsif workload.is_end(v_status) then
        answer := 'has ended: ' || v_status;
        perform workload.set_retry(p_setup, array[job_id], array[null::timestamptz]);  -- no rule tries the job again
        exit;
      end if;
      if workload.change_status(p_setup, array[job_id], v_status, 'cancelled', p_reason) <> '{}' then
        answer := 'ended';
        exit;
      end if;
    end loop;
    v_ended := v_ended + (answer = 'ended')::int;
    v_asked := v_asked + (answer = 'kill asked')::int;
    return next;
  end loop;
  if v_ended + v_asked > 0 then
    perform resource.note_change(
      p_setup, 'job', (select min(i) from unnest(p_job_ids) i)::text, null,
      jsonb_build_object('cancelled', v_ended, 'kill asked', v_asked, 'reason', p_reason));
  end if;
end $$;

comment on function lifecycle.cancel_jobs(text, bigint[], text) is
  'Cancels jobs, brokered or only inserted, all or none. The answer for each job is ended, kill asked (the answer to '
  'the next report of its agent), or, for a job that has ended, a text such as "has ended: finished". Errors: PB001 '
  '(reason, too many jobs), PB002 (setup or owner not granted), PB004 (no such job; for a private submitter, no '
  'waiting or leased job of its own).';
