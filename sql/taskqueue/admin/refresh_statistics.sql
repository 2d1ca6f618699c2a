-- After a bulk load: a setup that the planner's statistics do not know looks as if it had one row, and
-- then an index by setup alone looks as good as the right one (a match took 6 ms instead of 0.5).
-- Autovacuum comes a minute later at best.
create or replace function taskqueue.refresh_statistics() returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  analyze (skip_locked) taskqueue.definition, taskqueue.task_queue, taskqueue.posting_list, taskqueue.posting,
    taskqueue.job, taskqueue.job_count, taskqueue.job_count_change;
end $$;

comment on function taskqueue.refresh_statistics() is
  'Tells the planner how much the room holds now; after a bulk load, before the agents come. Takes about 50 ms.';
