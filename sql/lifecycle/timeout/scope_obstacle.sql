create or replace function lifecycle.scope_obstacle(f lifecycle.timeout_facts, t lifecycle.timeout) returns text
language sql stable
return case
  when f.status <> all (t.statuses)
  then format('the job is %s: the timeout is for jobs that are %s', f.status, array_to_string(t.statuses, ', '))
  when lifecycle.is_exempt(f.queue_status, f.queue_catchall, t.skipped_at)
  then format('queue %s is %s: the timeout does not apply there', f.queue,
              case when f.queue_status = 'paused' and 'paused' = any (t.skipped_at) then 'paused'
                   else 'marked disableReassign' end)
  when (f.label = any (t.labels)) is not true and t.labels is not null
  then format('label is %s, not %s', coalesce(f.label, 'null'), array_to_string(t.labels, ' or '))
  when f.label = any (t.not_labels) then format('label is %s', f.label)
  when coalesce(f.priority, 0) < t.priority_from
  then format('priority %s is below %s', coalesce(f.priority, 0), t.priority_from)
  when coalesce(f.priority, 0) > t.priority_to
  then format('priority %s is above %s', coalesce(f.priority, 0), t.priority_to)
end;

comment on function lifecycle.scope_obstacle(lifecycle.timeout_facts, lifecycle.timeout) is
  'The reason why a timeout does not concern a job, from its status, queue, label or priority; null if it concerns the '
  'job.';
