-- Waiting jobs by TaskQueue: base and changes read in one statement, as taskqueue.job_level does by user priority.
-- The view does not call that function: a function in a view has the rights of the reader of the view.
create or replace view taskqueue.task_queue_count as
select q.setup, q.task_queue_id,
       (coalesce((select sum(j) from unnest(t.jobs) j), 0)
        + coalesce((select sum(c.change) from taskqueue.job_count_change c
                     where c.setup = q.setup and c.task_queue_id = q.task_queue_id
                       and (c.made_in >= t.known_to or c.made_in = any (t.in_flight))), 0))::bigint as jobs
  from taskqueue.task_queue q
  left join lateral (select b.jobs, b.known_to, b.in_flight from taskqueue.job_count b
                      where b.setup = q.setup and b.task_queue_id = q.task_queue_id
                      order by b.known_to desc, b.count_id desc limit 1) t on true;

comment on view taskqueue.task_queue_count is 'Waiting jobs that are not held, by TaskQueue.';
comment on column taskqueue.task_queue_count.jobs is 'Waiting jobs that are not held.';
