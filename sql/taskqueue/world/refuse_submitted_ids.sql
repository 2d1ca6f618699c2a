-- A job id means the same in all schemas of a setup. An insertion refuses the id of a job of brokerage that has not
-- ended (taskqueue.fill_task_queues). A load of such jobs calls this function in its transaction, since workload does
-- not know the jobs of submitters.
create or replace function taskqueue.refuse_submitted_ids(p_setup text, p_job_ids bigint[]) returns void
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
declare
  v_taken record;
begin
  perform resource.identify(p_setup);
  select w.job_id, w.status, coalesce(j.place, l.place) as place into v_taken
    from workload.job w
    left join lateral (select 'waits in a TaskQueue' as place from taskqueue.job t
                        where t.setup = p_setup and t.job_id = w.job_id and not t.brokered) j on true
    left join lateral (select 'is leased' as place from taskqueue.lease t
                        where t.setup = p_setup and t.job_id = w.job_id and not t.brokered) l on true
   where w.setup = p_setup and w.job_id = any (p_job_ids) and not workload.is_end(w.status)
     and coalesce(j.place, l.place) is not null
   order by w.job_id limit 1;
  if found then
    raise exception 'job % is %, but a job with this id was submitted and %', v_taken.job_id, v_taken.status,
      v_taken.place
      using errcode = 'PB005', hint = 'Load the job under another id, or cancel the submitted job.';
  end if;
end $$;

comment on function taskqueue.refuse_submitted_ids(text, bigint[]) is
  'Refuses jobs of brokerage that have not ended and whose ids jobs of submitters have, waiting or leased. Errors: '
  'PB002 (setup not granted), PB005, naming the first such job.';
