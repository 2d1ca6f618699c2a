create or replace function lifecycle.condition_no_task(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.task_id is not null then 'the job is of a task' end;

comment on function lifecycle.condition_no_task(lifecycle.timeout_facts) is
  'Condition of a timeout: the job is of no task. Null if the condition holds; otherwise the reason.';
