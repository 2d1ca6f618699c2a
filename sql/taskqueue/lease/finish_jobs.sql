-- LEASES.md, Leases: the batch form; a job that is refused does not stop the others. In the order of ids, so that two
-- batches do not deadlock.
create or replace function taskqueue.finish_jobs(p_setup text, p_jobs jsonb)
returns table (job_id bigint, outcome text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_job record;
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_within(p_setup, 'batch_size', 'jobs', taskqueue.json_size(p_jobs));
  perform taskqueue.check_reports(p_jobs, '{job_id,attempt,attempt_number,outcome,subject}');
  perform taskqueue.enter_setup(p_setup);
  for v_job in
    with together as materialized (select t.* from taskqueue.finish_together(p_setup, p_jobs) t)
    select r.job_id, r.attempt, r.attempt_number, coalesce(r.outcome, 'finished') as wish, r.subject, t.outcome
      from jsonb_array_elements(p_jobs) with ordinality e (element, n)
     cross join lateral jsonb_to_record(e.element) as r (job_id bigint, attempt text, attempt_number int,
                                                             outcome text, subject text)
      left join together t on t.job_id = r.job_id
     order by r.job_id, e.n
  loop
    job_id := v_job.job_id;
    outcome := v_job.outcome;
    reason := null;
    if outcome is null then
      perform resource.call_for(v_job.subject);
      begin
        outcome := taskqueue.finish_job(
          p_setup, v_job.job_id,
          coalesce(v_job.attempt, taskqueue.attempt_of_subject(p_setup, v_job.job_id, v_job.attempt_number)),
          v_job.wish);
      exception when sqlstate 'PB001' or sqlstate 'PB003' or sqlstate 'PB005' then
        outcome := case sqlstate when 'PB003' then 'stale' else 'refused' end;
        reason := sqlerrm;
      end;
    end if;
    return next;
  end loop;
end $$;

comment on function taskqueue.finish_jobs(text, jsonb) is
  'Ends many jobs, [{job_id, attempt, outcome}] (no outcome = finished); each answer is the outcome, stale or refused, '
  'with the reason. subject and attempt_number: as for taskqueue.report_jobs. Errors: PB001 (not such a list), PB002 '
  '(setup not granted, subject).';
