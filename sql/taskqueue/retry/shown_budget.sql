-- RETRIES.md. The planner inlines it.
create or replace function taskqueue.shown_budget(p_failure taskqueue.failure) returns text
language sql stable as $$
  select case when p_failure.max_attempt - 1 < p_failure.most_retries
              then format('task %s allows %s attempt%s (max_attempt)', p_failure.task_id, p_failure.max_attempt,
                          case when p_failure.max_attempt > 1 then 's' end)
              else 'most_retries is ' || p_failure.most_retries end
$$;

comment on function taskqueue.shown_budget(taskqueue.failure) is
  'The number of retries that retry rules may make, in words: that of the setup, or that of the task if it is smaller.';
