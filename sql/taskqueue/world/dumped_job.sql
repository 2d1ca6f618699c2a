-- worlds.md, Dumping. Most jobs have no state. The token of the last failed attempt is left out, since it is a secret.
create or replace function taskqueue.dumped_job(p_job taskqueue.job) returns jsonb
language sql stable as $$
  select jsonb_build_array(p_job.job_id, p_job.user_priority)
         || case when p_job.held or p_job.attempts > 0 or p_job.losses > 0 or p_job.failures > 0
                      or p_job.avoid is not null
                 then jsonb_build_array(null, jsonb_strip_nulls(jsonb_build_object(
                        'held', nullif(p_job.held, false), 'not_before', p_job.not_before at time zone 'UTC',
                        'attempts', nullif(p_job.attempts, 0), 'losses', nullif(p_job.losses, 0),
                        'failures', nullif(p_job.failures, 0), 'avoid', p_job.avoid,
                        'avoid_until', p_job.avoid_until at time zone 'UTC')))
                 else '[]' end
$$;

comment on function taskqueue.dumped_job(taskqueue.job) is
  'A waiting job as taskqueue.load_task_queues takes it: [id, user_priority], or [id, user_priority, null, state] with '
  'state {held, not_before, attempts, losses, failures, avoid, avoid_until}, times in UTC.';
