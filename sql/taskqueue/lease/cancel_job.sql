-- LEASES.md, Ended jobs: ends a waiting job, and marks a leased one for kill.
create or replace function taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text default 'cancelled')
returns text
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_lease taskqueue.lease;
begin
  perform taskqueue.require_reason(p_setup, p_reason);
  perform taskqueue.enter_setup(p_setup);
  loop
    if taskqueue.end_waiting(p_setup, p_job_id, 'cancelled', v_identity, p_reason) is not null then
      return 'ended';
    end if;
    update taskqueue.lease l
       set kill_reason = p_reason
     where l.setup = p_setup and l.job_id = p_job_id
    returning l.*
      into v_lease;
    if found then
      perform taskqueue.may_touch(v_identity, p_job_id, v_lease.definition_id);
      perform taskqueue.note_events(array[
        (v_lease, 'kill asked', null, null, null, null, null)::taskqueue.lease_event]);
      return 'kill asked';
    end if;
    -- the job may have gone back to waiting between the two statements, so try again
    if not exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
      raise exception 'job % neither waits nor is leased in setup %', coalesce(p_job_id::text, 'null'), p_setup
        using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
    end if;
  end loop;
end $$;

comment on function taskqueue.cancel_job(text, bigint, text) is
  'Ends a waiting job (answer: ended), or marks a leased one for kill (answer: kill asked), so that its agent gets '
  'kill as the answer to its next report. Errors: PB001 (reason), PB002 (setup or owner not granted), PB004 (no '
  'such job).';
