create or replace function lifecycle.condition_queue_off(f lifecycle.timeout_facts) returns text
language sql stable
return case when (f.queue_status in ('offline', 'test')) is not true
            then format('queue %s is %s', coalesce(f.queue, 'null'), coalesce(f.queue_status, 'not known')) end;

comment on function lifecycle.condition_queue_off(lifecycle.timeout_facts) is
  'Condition of a timeout: the queue is offline or test. Null if the condition holds; otherwise the reason.';
