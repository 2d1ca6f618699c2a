-- RETRIES.md, Changes: an insertion that moves a job sets its losses and failures to 0 and its avoided host to null. So
-- this function writes them again.
create or replace function taskqueue.change_jobs(
  p_setup text, p_now timestamptz, p_requirements jsonb, p_job_ids bigint[]
) returns bigint
language plpgsql as $$
declare
  v_jobs taskqueue.job[];
  v_texts text[];
begin
  select array_agg(c.j), array_agg(c.text) into v_jobs, v_texts
    from (select j, split_part(p.retry_rule, ': ', 1) || ': '
                    || taskqueue.shown_change(d.requirements, p_requirements) as text
            from taskqueue.job j
            join taskqueue.pending_change p on p.setup = j.setup and p.job_id = j.job_id and p.entry_id = j.entry_id
            join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
            join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
           where j.setup = p_setup and j.job_id = any (p_job_ids) and j.not_before <= p_now
           order by j.job_id
             for update of j skip locked) c;
  if v_jobs is null then
    return 0;
  end if;
  perform taskqueue.open_task_queues(p_setup, p.made)
     from taskqueue.place_jobs(p_setup, p_requirements, array(select j.job_id from unnest(v_jobs) j),
                               array(select j.user_priority::int from unnest(v_jobs) j)) p;
  update taskqueue.job j set losses = o.losses, failures = o.failures, last_token = o.last_token, avoid = o.avoid,
         avoid_until = o.avoid_until
    from unnest(v_jobs) o
   where j.setup = p_setup and j.job_id = o.job_id;
  delete from taskqueue.pending_change p
   where p.setup = p_setup and p.job_id = any (array(select j.job_id from unnest(v_jobs) j));
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority,
                                 role_name, retry_rule)
  select p_setup, p_now, j.job_id, j.attempts, 'changed', j.task_queue_id, q.definition_id, j.user_priority,
         resource.caller(), o.text
    from unnest(array(select n.job_id from unnest(v_jobs) n), v_texts) o (job_id, text)
    join taskqueue.job j on j.setup = p_setup and j.job_id = o.job_id
    join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id;
  return cardinality(v_jobs);
end $$;

comment on function taskqueue.change_jobs(text, timestamptz, jsonb, bigint[]) is
  'Moves the jobs that are due and have a pending change to a TaskQueue of the new requirements, and resumes them; '
  'returns how many. Locked jobs are skipped.';
