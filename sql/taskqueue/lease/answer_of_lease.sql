-- LEASES.md, Repeated requests: what taskqueue.match_job answered, as taskqueue.request.answer.
create or replace function taskqueue.answer_of_lease(p_lease taskqueue.lease) returns jsonb
language sql stable as $$
  select jsonb_build_array(jsonb_build_object(
           'job_id', p_lease.job_id, 'task_queue_id', p_lease.task_queue_id, 'requirements', d.requirements,
           'user_priority', p_lease.user_priority,
           'attempt', taskqueue.attempt_text(p_lease.attempt, p_lease.token)))
    from taskqueue.definition d
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id
$$;

comment on function taskqueue.answer_of_lease(taskqueue.lease) is
  'The answer of the match that made a lease: a list of one job.';
