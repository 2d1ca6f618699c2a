-- LEASES.md, Repeated requests: the answer of taskqueue.match_job, in the form of taskqueue.request.answer. Inlined.
create or replace function taskqueue.answer_of_lease(p_lease taskqueue.lease, p_requirements jsonb) returns jsonb
language sql stable as $$
  select jsonb_build_array(jsonb_build_object(
           'job_id', p_lease.job_id, 'task_queue_id', p_lease.task_queue_id, 'requirements', p_requirements,
           'user_priority', p_lease.user_priority,
           'attempt', taskqueue.attempt_text(p_lease.attempt, p_lease.token)))
$$;

comment on function taskqueue.answer_of_lease(taskqueue.lease, jsonb) is
  'The answer of the match that made a lease: a list of one job. p_requirements: those of its definition.';
