-- The match of a lease is written with its end (taskqueue.note_ends); until then taskqueue.match reads the lease.
create or replace function taskqueue.note_event(p_lease taskqueue.lease, p_event text) returns void
language sql as $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority,
                                 site, grid_ce, role_name, subject)
  values (p_lease.setup, resource.clock(p_lease.setup), p_lease.job_id, p_lease.attempt, p_event, p_lease.task_queue_id,
          p_lease.definition_id, p_lease.user_priority, p_lease.site, p_lease.grid_ce, resource.caller(),
          (resource.subject()).name)
$$;

comment on function taskqueue.note_event(taskqueue.lease, text) is 'Writes an event of a lease into the history.';
