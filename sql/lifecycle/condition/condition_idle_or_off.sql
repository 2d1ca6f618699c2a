create or replace function lifecycle.condition_idle_or_off(f lifecycle.timeout_facts) returns text
language sql stable
return case when (f.queue_status in ('offline', 'test')) is not true then lifecycle.condition_idle(f) end;

comment on function lifecycle.condition_idle_or_off(lifecycle.timeout_facts) is
  'Condition of a timeout: the queue is offline or test, or its last start of a job is known and more than 2 h ago. '
  'Null if the condition holds; otherwise the reason.';
