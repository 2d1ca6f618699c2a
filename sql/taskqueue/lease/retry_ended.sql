-- STATES.md, Retries. A call that met another one begins again, so that it answers as if it had come after the other.
-- A retry and an insertion with the same ids under different requirements can deadlock (taskqueue.insert_together).
create or replace function taskqueue.retry_ended(p_setup text, p_job_ids bigint[]) returns void
language plpgsql as $$
begin
  perform taskqueue.enter_setup(p_setup);
  for v_try in 1..20 loop
    begin
      perform taskqueue.place_ended(p_setup, p_job_ids);
      exit;
    exception when sqlstate 'PB006' or deadlock_detected then
      if v_try = 20 then
        raise;
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
end $$;

comment on function taskqueue.retry_ended(text, bigint[]) is
  'Puts ended jobs that did not finish back into TaskQueues of their requirements, all or none. They keep id, user '
  'priority, payload and count of attempts, and have no losses. Errors: PB001 (the setup no longer has an attribute '
  'that it names), PB004 (no such job), PB005 (it has not ended, has finished, was a job of a task, or its '
  'requirements are no longer kept), PB006 (other calls change the same jobs all the time).';
