-- Counts by TaskQueue as taskqueue.job_level counts by user priority. The view does not call that function, because a
-- function in a view has the rights of the reader of the view.
create or replace view taskqueue.task_queue_count as
select q.setup, q.task_queue_id,
       (coalesce((select sum(j) from unnest(t.jobs) j), 0)
        - coalesce((select count(*) from unnest(t.job_ids, t.entry_ids) e (job_id, entry_id)
                     where not exists (select from taskqueue.job j
                                        where j.setup = q.setup and j.job_id = e.job_id
                                          and j.entry_id = e.entry_id)), 0)
        + coalesce((select sum(c.change) from taskqueue.job_count_change c
                     where c.setup = q.setup and c.task_queue_id = q.task_queue_id
                       and (c.made_in >= t.known_to or c.made_in = any (t.in_flight))
                       and (c.entry_id = any (t.entry_ids)) is not true), 0))::bigint as jobs
  from taskqueue.task_queue q
  left join lateral (select h.jobs, h.job_ids, h.entry_ids, h.known_to, h.in_flight from taskqueue.hand h
                      where h.setup = q.setup and h.task_queue_id = q.task_queue_id
                      order by h.hand_id desc limit 1) t on true;

comment on view taskqueue.task_queue_count is 'Waiting jobs that are not held, by TaskQueue.';
comment on column taskqueue.task_queue_count.jobs is 'Waiting jobs that are not held.';
