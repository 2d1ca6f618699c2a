-- TIMEOUTS.md, Rules and actions. The closed job keeps the record of its queue. A job that brokerage did not make is
-- only closed. A job whose agent is asked to stop was cancelled by somebody, so it ends as cancelled, and its work does
-- not go back.
create or replace function lifecycle.return_to_task(p_setup text, p_job_id bigint, p_why text) returns text
language plpgsql as $$
declare
  v_asked text := (select l.kill_reason from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id);
  v_from text;
begin
  if v_asked is not null then
    return lifecycle.end_job(p_setup, p_job_id, 'cancelled', v_asked);
  end if;
  v_from := lifecycle.end_job(p_setup, p_job_id, 'closed', p_why, 'rebrokered');
  perform lifecycle.reopen_part(p_setup, p_job_id);
  return v_from;
end $$;

comment on function lifecycle.return_to_task(text, bigint, text) is
  'Closes a job (sub_status rebrokered) and gives its work back to its task, which is brokered again; returns the '
  'earlier status of the job. A job whose agent is asked to stop ends as cancelled instead. Errors: PB004 (no such '
  'job), PB005 (it has ended).';
