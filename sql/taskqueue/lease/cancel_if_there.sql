-- A job that neither waits nor is leased is no error here, so that lifecycle.cancel_jobs needs no subtransaction.
create or replace function taskqueue.cancel_if_there(
  p_setup text, p_job_id bigint, p_reason text, p_identity resource.identity
) returns text
language plpgsql as $$
declare
  v_lease taskqueue.lease;
begin
  loop
    if taskqueue.end_waiting(p_setup, p_job_id, 'cancelled', p_identity, p_reason) is not null then
      return 'ended';
    end if;
    update taskqueue.lease l
       set kill_reason = p_reason
     where l.setup = p_setup and l.job_id = p_job_id
    returning l.*
      into v_lease;
    if found then
      perform taskqueue.may_touch(p_identity, p_job_id, v_lease.definition_id);
      perform taskqueue.note_events(array[
        (v_lease, 'kill asked', null, null, null, null, null)::taskqueue.lease_event]);
      return 'kill asked';
    end if;
    -- the job may have gone back to waiting between the two statements, so try again
    if not exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
      return null;
    end if;
  end loop;
end $$;

comment on function taskqueue.cancel_if_there(text, bigint, text, resource.identity) is
  'Ends a waiting job (answer: ended), or marks a leased one for kill (answer: kill asked); null if the job neither '
  'waits nor is leased. Errors: PB002 (not the caller''s job).';
