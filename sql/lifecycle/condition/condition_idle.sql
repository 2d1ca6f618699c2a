create or replace function lifecycle.condition_idle(f lifecycle.timeout_facts) returns text
language sql stable
return case when (f.queue_last_start < f.now - interval '2 hours') is not true
            then coalesce(format('the last job of queue %s started %s ago', f.queue,
                                 date_trunc('second', f.now - f.queue_last_start)),
                          format('no start of a job is known at queue %s', coalesce(f.queue, 'null'))) end;

comment on function lifecycle.condition_idle(lifecycle.timeout_facts) is
  'Condition of a timeout: the last start of a job at the queue is known and more than 2 h ago. Null if the condition '
  'holds; otherwise the reason.';
