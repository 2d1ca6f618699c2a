-- MATCHING.md, CPU buckets.
create or replace trigger task_queue_bucket
before insert or update of cpu_time on taskqueue.task_queue
for each row execute function taskqueue.round_cpu_time();

comment on trigger task_queue_bucket on taskqueue.task_queue is 'Rounds CPU time up to the next bucket of the setup.';
