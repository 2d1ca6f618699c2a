-- RETRIES.md, Jobs of tasks. workload.note_failures has locked the rows of these parts. The last five queues are kept.
create or replace function workload.change_parts(
  p_setup text, p_job_ids bigint[], p_memory_factors numeric[], p_time_factors numeric[], p_elsewhere text[],
  p_less_input boolean[]
) returns void
language sql as $$
  update workload.failed_part p
     set memory_factor = trim_scale(least(round(p.memory_factor * coalesce(n.memory_factor, 1), 6), 1e6)),
         time_factor = trim_scale(least(round(p.time_factor * coalesce(n.time_factor, 1), 6), 1e6)),
         failed_queues = case when n.elsewhere = 'site' and j.queue is not null
                              then (array_remove(p.failed_queues, j.queue) || j.queue)[greatest(
                                     cardinality(array_remove(p.failed_queues, j.queue)) - 3, 1):]
                              else p.failed_queues end,
         less_input = p.less_input or coalesce(n.less_input, false)
    from unnest(p_job_ids, p_memory_factors, p_time_factors, p_elsewhere, p_less_input)
           n (job_id, memory_factor, time_factor, elsewhere, less_input)
    join workload.job j on j.setup = p_setup and j.job_id = n.job_id
   where p.setup = p_setup and p.task_id = j.task_id and p.number = j.number
     and (num_nonnulls(n.memory_factor, n.time_factor) > 0 or n.elsewhere = 'site' or n.less_input)
$$;

comment on function workload.change_parts(text, bigint[], numeric[], numeric[], text[], boolean[]) is
  'Stores the changes of retry rules with the parts of failed jobs (parallel arrays): factors of memory and CPU time, '
  'elsewhere (site: the part avoids the queue of the job), and whether the task makes smaller parts.';
