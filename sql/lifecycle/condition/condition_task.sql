create or replace function lifecycle.condition_task(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.task_id is null then 'the job belongs to no task' end;

comment on function lifecycle.condition_task(lifecycle.timeout_facts) is
  'Condition of a timeout: the job belongs to a task. Null if the condition holds; otherwise the reason.';
