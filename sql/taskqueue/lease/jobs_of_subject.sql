-- LEASES.md, Attempts: pilots of DIRAC and PanDA ask for jobs that they have or had. No caller sees the jobs of others.
create or replace function taskqueue.jobs_of_subject(p_setup text, p_job_ids bigint[])
returns table (job_id bigint, state text, status text, attempt_number int)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
declare
  v_subject text := (resource.subject()).name;
begin
  perform resource.identify(p_setup);
  if cardinality(p_job_ids) > 10000 then
    raise exception '% jobs in one call', cardinality(p_job_ids)
      using errcode = 'PB001', hint = 'A call takes up to 10,000 jobs; use several calls.';
  end if;
  return query
    select i.id, coalesce(l.state::text, e.outcome::text),
           case when l.state = 'matched' then 'sent'
                when l.job_id is not null then coalesce(case when l.brokered then j.status end, 'running')
                else e.outcome end,
           coalesce(l.attempt, e.attempts)
      from (select distinct u.id from unnest(p_job_ids) u (id)) i
      left join taskqueue.lease l on l.setup = p_setup and l.job_id = i.id and l.subject = v_subject
      left join workload.job j on j.setup = p_setup and j.job_id = l.job_id
      left join lateral (select n.outcome, n.attempts from taskqueue.ended_by_subject(p_setup, i.id, v_subject) n
                          where l.job_id is null) e on true
     where l.job_id is not null or e.outcome is not null
     order by i.id;
end $$;

comment on function taskqueue.jobs_of_subject(text, bigint[]) is
  'Selects, from up to 10,000 jobs, those that the subject calling through the service has (state matched or running) '
  'or ended (the state is the outcome). status: PanDA''s status (sent = matched; a brokered job has its own). '
  'attempt_number: number of its attempt. There are no rows if the call does not come through the service. Errors: '
  'PB001 (too many), PB002 (setup not granted). Sources: DIRAC 9.1, getJobsStatus; PanDA, getStatus.';
