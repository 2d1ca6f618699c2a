-- HANDS.md, When a hand is dealt. A match adds up the changes of its TaskQueue, so those with the most come first.
create or replace function taskqueue.changed_portions(p_setup text) returns setof bigint[]
language sql stable as $$
  select array_agg(i.task_queue_id order by i.place)
    from (select c.task_queue_id, row_number() over (order by count(*) desc, c.task_queue_id) as place
            from taskqueue.job_count_change c where c.setup = p_setup
           group by c.task_queue_id) i
   group by (i.place - 1) / 200
   order by (i.place - 1) / 200
$$;

comment on function taskqueue.changed_portions(text) is
  'TaskQueues whose counts changed, those with the most changes first, in portions of 200.';
