create or replace function lifecycle.condition_queue_on(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.queue_status in ('offline', 'test') then format('queue %s is %s', f.queue, f.queue_status) end;

comment on function lifecycle.condition_queue_on(lifecycle.timeout_facts) is
  'Condition of a timeout: the queue is neither offline nor test. Null if the condition holds; otherwise the reason.';
