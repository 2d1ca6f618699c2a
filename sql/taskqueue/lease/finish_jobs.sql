-- LEASES.md, Leases: this is the batch form; a refused job does not stop the others.
create or replace function taskqueue.finish_jobs(p_setup text, p_jobs jsonb, p_request_id uuid default null)
returns table (job_id bigint, outcome text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_read record;
  v_ended bigint[];
  v_job record;
  v_asked bigint;
  v_answer jsonb;
  v_said jsonb[] := '{}'::jsonb[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_within(p_setup, 'batch_size', 'jobs', taskqueue.json_size(p_jobs));
  v_read := taskqueue.read_reports(p_jobs, '{job_id,attempt,attempt_number,outcome,subject,error,used,host}',
                                   'outcome', 'finished', '{finished,failed,cancelled,closed}');
  if p_request_id is not null then
    perform taskqueue.claim_request(p_setup, p_request_id);
    v_asked := jsonb_hash_extended(p_jobs, 0);
    v_answer := taskqueue.answer_given(p_setup, p_request_id, 'finish_jobs', v_asked);
    if v_answer is not null then
      return query
        select a.* from jsonb_to_recordset(v_answer) as a (job_id bigint, outcome text, reason text);
      return;
    end if;
  end if;
  v_read.events := array_replace(v_read.events, null, 'finished');
  perform taskqueue.enter_setup(p_setup);
  v_ended := taskqueue.end_leases(
    p_setup, taskqueue.presented_leases(p_setup, v_read.job_ids, v_read.attempts, v_read.events, v_read.numbers,
                                        v_read.subjects, v_read.alone, v_read.facts), p_skip_refused => true);
  for v_job in
    select e.*, d.job_id is not null as has_ended,
           case when d.job_id is null
                then jsonb_build_object('cpu', e.cpu, 'wall', e.wall, 'ram', e.ram, 'cores', e.cores) end as used
      from unnest(v_read.job_ids, v_read.attempts, v_read.numbers, v_read.events, v_read.subjects, v_read.facts)
             with ordinality e (job_id, attempt, number, outcome, subject, host, error, cpu, wall, ram, cores, fault,
                                n)
      left join unnest(v_ended) d (job_id) using (job_id)
     order by e.n
  loop
    job_id := v_job.job_id;
    outcome := v_job.outcome;
    reason := null;
    if v_job.fault is not null then
      outcome := 'refused';
      reason := v_job.fault;
    elsif not v_job.has_ended then
      perform resource.call_for(v_job.subject);
      begin
        outcome := taskqueue.finish_job(
          p_setup, v_job.job_id,
          coalesce(v_job.attempt, taskqueue.attempt_of_subject(p_setup, v_job.job_id, v_job.number)), v_job.outcome,
          v_job.error, v_job.used, v_job.host);
      exception when sqlstate 'PB001' or sqlstate 'PB003' or sqlstate 'PB005' then
        outcome := case sqlstate when 'PB003' then 'stale' else 'refused' end;
        reason := sqlerrm;
      end;
    end if;
    return next;
    if p_request_id is not null then
      v_said := v_said || jsonb_build_object('job_id', job_id, 'outcome', outcome, 'reason', reason);
    end if;
  end loop;
  if p_request_id is not null then
    perform taskqueue.keep_answer(p_setup, p_request_id, 'finish_jobs', v_asked, to_jsonb(v_said));
  end if;
end $$;

comment on function taskqueue.finish_jobs(text, jsonb, uuid) is
  'Ends many jobs, given as [{job_id, attempt, outcome, error, used, host}] (the default outcome is finished; the '
  'facts are those of taskqueue.finish_job). Each answer is the outcome, or stale or refused with a reason. subject, '
  'attempt_number: as for taskqueue.report_jobs. The same request id within ten minutes gives the same answers. '
  'Errors: PB001 (not such a list), PB002 (setup not granted, subject), PB006 (a call with the id is still running).';
