-- The ends of leases, and with them their matches, at the time when they were made.
create or replace function taskqueue.note_ends(
  p_leases taskqueue.lease[], p_event text, p_subjects text[] default array[(resource.subject()).name]
) returns void
language plpgsql as $$
begin
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group,
                                 owner_dn, user_priority, site, grid_ce, role_name, subject)
  select l.setup, l.matched_at, l.job_id, l.attempt, 'matched', l.task_queue_id, l.definition_id, d.cpu_time,
         d.owner_group, d.owner_dn, l.user_priority, l.site, l.grid_ce, l.role_name, l.subject
    from unnest(p_leases) l
    join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id;
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority,
                                 site, grid_ce, role_name, subject)
  select l.setup, resource.clock(l.setup), l.job_id, l.attempt, p_event, l.task_queue_id, l.definition_id,
         l.user_priority, l.site, l.grid_ce, resource.caller(), s.subject
    from unnest(p_leases) with ordinality l
    join unnest(p_subjects) with ordinality s (subject, n) on s.n = least(l.ordinality, cardinality(p_subjects));
end $$;

comment on function taskqueue.note_ends(taskqueue.lease[], text, text[]) is
  'Writes the matches and the ends of leases into the history; subjects: who ended each, or one for all.';
