-- LEASES.md, Leases: the batch form; a job that is refused does not stop the others. In the order of ids, so that two
-- batches do not deadlock.
create or replace function taskqueue.report_jobs(p_setup text, p_reports jsonb)
returns table (job_id bigint, action text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_report record;
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_within(p_setup, 'batch_size', 'reports', taskqueue.json_size(p_reports));
  perform taskqueue.check_reports(p_reports, '{job_id,attempt,attempt_number,status,subject}');
  perform taskqueue.enter_setup(p_setup);
  for v_report in
    with together as materialized (select t.* from taskqueue.report_together(p_setup, p_reports) t)
    select r.job_id, r.attempt, r.attempt_number, r.status, e.element ? 'status' as has_status, r.subject,
           t.action, t.reason
      from jsonb_array_elements(p_reports) with ordinality e (element, n)
     cross join lateral jsonb_to_record(e.element) as r (job_id bigint, attempt text, attempt_number int,
                                                             status text, subject text)
      left join together t on t.job_id = r.job_id
     order by r.job_id, e.n
  loop
    job_id := v_report.job_id;
    action := v_report.action;
    reason := v_report.reason;
    if action is null then
      perform resource.call_for(v_report.subject);
      begin
        select a.action, a.reason into report_jobs.action, report_jobs.reason
          from taskqueue.report_job(p_setup, v_report.job_id,
                                    coalesce(v_report.attempt, taskqueue.attempt_of_subject(
                                      p_setup, v_report.job_id, v_report.attempt_number)),
                                    case when v_report.has_status then v_report.status else 'running' end) a;
      exception when sqlstate 'PB001' or sqlstate 'PB003' or sqlstate 'PB005' then
        action := case sqlstate when 'PB003' then 'stale' else 'refused' end;
        reason := sqlerrm;
      end;
    end if;
    return next;
  end loop;
end $$;

comment on function taskqueue.report_jobs(text, jsonb) is
  'Reports of many jobs, [{job_id, attempt, status}] (no status = running, null = a heartbeat); each answer is '
  'continue, kill, stale (stop working on it) or refused, with the reason. subject: who reports, from the service '
  'alone; then an attempt_number, or neither, stands for the attempt that the subject has. Errors: PB001 (not such a '
  'list), PB002 (setup not granted, subject).';
