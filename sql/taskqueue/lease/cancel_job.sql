-- LEASES.md, Ended jobs: ends a waiting job, and marks a leased one for kill.
create or replace function taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text default 'cancelled')
returns text
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_answer text;
begin
  perform taskqueue.require_reason(p_setup, p_reason);
  perform taskqueue.enter_setup(p_setup);
  v_answer := taskqueue.cancel_if_there(p_setup, p_job_id, p_reason, v_identity);
  if v_answer is null then
    raise exception 'job % neither waits nor is leased in setup %', coalesce(p_job_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
  end if;
  return v_answer;
end $$;

comment on function taskqueue.cancel_job(text, bigint, text) is
  'Ends a waiting job (answer: ended), or marks a leased one for kill (answer: kill asked), so that its agent gets '
  'kill as the answer to its next report. Errors: PB001 (reason), PB002 (setup or owner not granted), PB004 (no '
  'such job).';
