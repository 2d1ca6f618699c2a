-- ARCHITECTURE.md, Hot rows: the query reads two ranges of an index, whatever the number of old rows that are not
-- removed yet. Inlined.
create or replace function taskqueue.new_changes(
  p_setup text, p_task_queue_id bigint, p_known_to xid8, p_in_flight xid8[]
) returns setof taskqueue.job_count_change
language sql stable rows 3 as $$
  select c.* from taskqueue.job_count_change c
   where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in >= p_known_to
  union all
  select c.* from taskqueue.job_count_change c
   where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in = any (p_in_flight)
$$;

comment on function taskqueue.new_changes(text, bigint, xid8, xid8[]) is
  'The changes of the jobs of a TaskQueue that a hand with this snapshot does not count. Any such change makes the '
  'hand void.';
