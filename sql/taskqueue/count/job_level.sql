-- ARCHITECTURE.md, Hot rows: a count is a snapshot plus the changes committed after it. The snapshot is the newest
-- row of taskqueue.job_count; the changes are two ranges of an index, however many old rows are not removed yet. One
-- statement reads both.
create or replace function taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8 default null)
returns table (user_priority smallint, jobs bigint, changes bigint, first_id bigint)
language sql stable rows 3 as $$
  select n.user_priority, sum(n.jobs)::bigint, sum(n.changes)::bigint, min(n.first_id)
    from (select b.jobs, b.first_ids, b.known_to, b.in_flight from taskqueue.job_count b
           where b.setup = p_setup and b.task_queue_id = p_task_queue_id
           order by b.known_to desc, b.count_id desc limit 1) t
   cross join lateral (
          select (l.number - 1)::smallint as user_priority, l.jobs, 0 as changes, l.first_id
            from unnest(t.jobs, t.first_ids) with ordinality l (jobs, first_id, number)
           where l.jobs <> 0
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in >= t.known_to
             and c.made_in is distinct from p_except
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in = any (t.in_flight)
             and c.made_in is distinct from p_except) n
   group by n.user_priority
$$;

comment on function taskqueue.job_level(text, bigint, xid8) is
  'Waiting jobs of a TaskQueue that are not held, by user priority; how many changes were read; and an id below which '
  'there is no job. Changes made by the transaction p_except are left out.';
