-- Folding the counts of a queue and dropping the queue exclude each other without waiting: whoever comes second leaves it.
create or replace function taskqueue.lock_counts(p_setup text, p_task_queue_id bigint) returns boolean
language sql
as $$
  select pg_try_advisory_xact_lock(hashtextextended(p_setup, p_task_queue_id))
$$;

comment on function taskqueue.lock_counts(text, bigint) is
'Takes the counts of a queue until the transaction ends; false when another transaction has them.';
