-- LEASES.md, Leases: this is the batch form; a refused job does not stop the others.
create or replace function taskqueue.report_jobs(p_setup text, p_reports jsonb)
returns table (job_id bigint, action text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_read record;
  v_leases taskqueue.lease_event[];
  v_reported bigint[];
  v_report record;
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_within(p_setup, 'batch_size', 'reports', taskqueue.json_size(p_reports));
  v_read := taskqueue.read_reports(p_reports, '{job_id,attempt,attempt_number,status,subject,error,used,host}',
                                   'status', 'running', '{starting,running,holding,transferring}');
  perform taskqueue.enter_setup(p_setup);
  v_leases := taskqueue.presented_leases(p_setup, v_read.job_ids, v_read.attempts, v_read.events, v_read.numbers,
                                         v_read.subjects, v_read.alone, v_read.facts);
  v_reported := taskqueue.report_leases(p_setup, v_leases, p_skip_refused => true);
  for v_report in
    select e.*, d.job_id is not null as is_done, (k.lease).kill_reason,
           case when d.job_id is null
                then jsonb_build_object('cpu', e.cpu, 'wall', e.wall, 'ram', e.ram, 'cores', e.cores) end as used
      from unnest(v_read.job_ids, v_read.attempts, v_read.numbers, v_read.events, v_read.subjects, v_read.facts)
             with ordinality e (job_id, attempt, number, status, subject, host, error, cpu, wall, ram, cores, fault,
                                n)
      left join unnest(v_reported) d (job_id) using (job_id)
      left join unnest(v_leases) k on (k.lease).job_id = d.job_id
     order by e.n
  loop
    job_id := v_report.job_id;
    reason := v_report.kill_reason;
    action := case when reason is null then 'continue' else 'kill' end;
    if v_report.fault is not null then
      action := 'refused';
      reason := v_report.fault;
    elsif not v_report.is_done then
      perform resource.call_for(v_report.subject);
      begin
        select a.action, a.reason into report_jobs.action, report_jobs.reason
          from taskqueue.report_job(p_setup, v_report.job_id,
                                    coalesce(v_report.attempt, taskqueue.attempt_of_subject(
                                      p_setup, v_report.job_id, v_report.number)),
                                    v_report.status, v_report.error, v_report.used, v_report.host) a;
      exception when sqlstate 'PB001' or sqlstate 'PB003' or sqlstate 'PB005' then
        action := case sqlstate when 'PB003' then 'stale' else 'refused' end;
        reason := sqlerrm;
      end;
    end if;
    return next;
  end loop;
end $$;

comment on function taskqueue.report_jobs(text, jsonb) is
  'Takes reports of many jobs, [{job_id, attempt, status, error, used, host}] (the default status is running, null '
  'means a heartbeat; the facts are those of taskqueue.report_job). '
  'Each answer is continue, kill, stale (stop working on the job) or refused, with the reason. Only the service gives '
  'a subject, the identity that reports; the attempt is then the one of that subject, with attempt_number if given. '
  'Errors: PB001 (not such a list), PB002 (setup not granted, subject).';
