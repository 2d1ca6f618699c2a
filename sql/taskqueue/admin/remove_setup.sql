-- Removes a whole setup, for example that of a demo, a test or a finished experiment. No other call works in the setup
-- during the removal.
create or replace function taskqueue.remove_setup(p_setup text) returns boolean
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  -- brokers do not enter the setup, so this lock waits for them; their counts are removed as well
  perform from resource.setup s where s.setup = p_setup for update;
  delete from taskqueue.job j where j.setup = p_setup;
  delete from taskqueue.pending_change p where p.setup = p_setup;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.hand c where c.setup = p_setup;
  delete from taskqueue.lease l where l.setup = p_setup;
  delete from taskqueue.limit_slot s where s.setup = p_setup;
  delete from taskqueue.limit_use u where u.setup = p_setup;
  delete from taskqueue.ended e where e.setup = p_setup;
  delete from taskqueue.history h where h.setup = p_setup;
  delete from taskqueue.request r where r.setup = p_setup;
  perform taskqueue.forget_descriptions(p_setup);
  delete from taskqueue.resource_seen r where r.setup = p_setup;
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  delete from taskqueue.share_mark m where m.setup = p_setup;
  delete from taskqueue.task_queue q where q.setup = p_setup;
  perform workload.remove_setup(p_setup);
  delete from resource.setup s where s.setup = p_setup;
  if not found then
    return false;
  end if;
  perform resource.note_removal(p_setup);
  return true;
end $$;

comment on function taskqueue.remove_setup(text) is
  'Deletes a setup with all its TaskQueues, jobs, their counts, leases, history, configuration and identities; returns '
  'false if there is no such setup. Errors: PB002 (setup not granted), PB006 (busy).';
