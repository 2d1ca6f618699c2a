create or replace function lifecycle.condition_still(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.task_changed > f.now - interval '3 hours'
            then format('a job of its task changed %s ago', date_trunc('second', f.now - f.task_changed)) end;

comment on function lifecycle.condition_still(lifecycle.timeout_facts) is
  'Condition of a timeout: no job of the task at the queue changed its status in the last 3 h, other than to closed, '
  'failed or starting. Null if the condition holds; otherwise the reason.';
