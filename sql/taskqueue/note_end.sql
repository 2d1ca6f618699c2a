-- after: taskqueue.match
-- after: taskqueue.note_event
-- The end of a lease, and with it its match, as the lease has it, at the time it was made.
create or replace function taskqueue.note_end(p_lease taskqueue.lease, p_event text) returns void
language sql
as $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn, user_priority, site, grid_ce, role_name)
  select p_lease.setup, p_lease.matched_at, p_lease.job_id, p_lease.attempt, 'matched', p_lease.task_queue_id, p_lease.definition_id, d.cpu_time, d.owner_group, d.owner_dn,
         p_lease.user_priority, p_lease.site, p_lease.grid_ce, p_lease.role_name
    from taskqueue.definition d
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  select taskqueue.note_event(p_lease, p_event);
$$;

comment on function taskqueue.note_end(taskqueue.lease, text) is 'Writes the match and the end of a lease into the history.';
