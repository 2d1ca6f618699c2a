-- LEASES.md, Repeated requests; inlined by the planner.
create or replace function taskqueue.jobs_of_answer(p_answer jsonb)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language sql stable rows 1 as $$
  select a.*
    from jsonb_to_recordset(p_answer) as a (job_id bigint, task_queue_id bigint, requirements jsonb,
                                            user_priority int, attempt text)
$$;

comment on function taskqueue.jobs_of_answer(jsonb) is 'The jobs of an answer of a match (taskqueue.request.answer).';
