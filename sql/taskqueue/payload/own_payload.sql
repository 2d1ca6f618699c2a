-- LEASES.md, Payloads. An inserted job is not the same as the job of a task that was loaded with the same id later.
create or replace function taskqueue.own_payload(p_setup text, p_job_id bigint) returns jsonb
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform taskqueue.require_own_job(resource.identify(p_setup), p_job_id);
  return coalesce((select p.body from workload.payload p where p.setup = p_setup and p.job_id = p_job_id),
                  case when not exists (select from taskqueue.job j
                                         where j.setup = p_setup and j.job_id = p_job_id and not j.brokered)
                        and not exists (select from taskqueue.lease l
                                         where l.setup = p_setup and l.job_id = p_job_id and not l.brokered)
                       then workload.payload_of_task(p_setup, p_job_id) end);
end $$;

comment on function taskqueue.own_payload(text, bigint) is
  'The payload of a job of the calling submitter, or of its task; null if it has none or it was forgotten. Errors: '
  'PB002 (setup or owner not granted), PB004 (the owner of the job is not known).';
