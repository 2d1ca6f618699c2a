-- TIMEOUTS.md, Rules and actions. The closed job keeps the record of its queue. A job that brokerage did not make is
-- only closed.
create or replace function lifecycle.return_to_task(p_setup text, p_job_id bigint, p_why text) returns text
language plpgsql as $$
declare
  v_from text := lifecycle.end_job(p_setup, p_job_id, 'closed', p_why, 'rebrokered');
begin
  perform lifecycle.reopen_part(p_setup, p_job_id);
  return v_from;
end $$;

comment on function lifecycle.return_to_task(text, bigint, text) is
  'Closes a job (sub_status rebrokered) and gives its work back to its task, which is brokered again; returns the '
  'earlier status of the job. Errors: PB004 (no such job), PB005 (it has ended).';
