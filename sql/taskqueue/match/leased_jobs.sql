-- Inlined.
create or replace function taskqueue.leased_jobs(p_setup text, p_streams taskqueue.stream[])
returns table (request int, job_id bigint, task_queue_id bigint, definition_id bigint, requirements jsonb,
               user_priority int, attempt text)
language sql stable rows 1 as $$
  -- plan: the requirements of the jobs
  select s.request, (s.card).job_id, s.task_queue_id, s.definition_id, d.requirements, (s.card).user_priority::int,
         taskqueue.attempt_text((s.card).attempt, s.token)
    from unnest(p_streams) s
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
   order by s.number
$$;

comment on function taskqueue.leased_jobs(text, taskqueue.stream[]) is
  'The jobs that streams got, in the order of the streams, as the answer of a match shows them, each with the number '
  'of its request.';
