-- LEASES.md, Payloads.
create or replace function taskqueue.own_payload(p_setup text, p_job_id bigint) returns jsonb
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform taskqueue.require_own_job(resource.identify(p_setup), p_job_id);
  return (select p.body from workload.payload p where p.setup = p_setup and p.job_id = p_job_id);
end $$;

comment on function taskqueue.own_payload(text, bigint) is
  'The payload of a job of the calling submitter; null = it has none, or was forgotten. Errors: PB002 (setup or owner '
  'not granted), PB004 (its owner is not known).';
