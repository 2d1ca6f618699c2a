-- LEASES.md, Attempts: a pilot of PanDA knows ids. Nobody is shown the jobs of others.
create or replace function taskqueue.jobs_of_subject(p_setup text, p_job_ids bigint[])
returns table (job_id bigint, status text, attempt_number int)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_subject text;
begin
  perform resource.identify(p_setup);
  if cardinality(p_job_ids) > 10000 then
    raise exception '% jobs in one call', cardinality(p_job_ids)
      using errcode = 'PB001', hint = 'A call takes up to 10,000 jobs; use several calls.';
  end if;
  v_subject := (resource.subject()).name;
  return query
    select l.job_id,
           case when l.state = 'matched' then 'sent'
                else coalesce((select j.status from workload.job j
                                where j.setup = p_setup and j.job_id = l.job_id), 'running') end,
           l.attempt
      from taskqueue.lease l
     where l.setup = p_setup and l.job_id = any (p_job_ids) and l.subject = v_subject
    union all
    select e.job_id, e.outcome, e.attempts
      from taskqueue.ended e
     where e.setup = p_setup and e.job_id = any (p_job_ids)
       and exists (select from taskqueue.history h
                    where h.setup = p_setup and h.job_id = e.job_id and h.attempt = e.attempts
                      and h.event = e.outcome and h.subject = v_subject
                      and h.at between e.ended_at - interval '1 minute' and e.ended_at + interval '1 minute');
end $$;

comment on function taskqueue.jobs_of_subject(text, bigint[]) is
  'Of these jobs those that the subject that calls through the service has, or ended: PanDA''s status (sent = matched '
  'and not reported) and the number of the attempt. Nothing where nobody calls through the service. Errors: PB001 '
  '(more than 10,000 jobs), PB002 (setup not granted).';
