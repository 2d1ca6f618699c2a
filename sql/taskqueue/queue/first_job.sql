-- Each user priority is one probe, written as a range, so that only the index job_order gives the order: with the
-- primary key, 325,000 jobs took 3 s. Most TaskQueues have jobs of one or two user priorities.
create or replace view taskqueue.first_job as
select q.setup, q.task_queue_id, j.held, j.user_priority, j.job_id, j.inserted_at
  from taskqueue.task_queue q
 cross join (values (false), (true)) h (held)
 cross join lateral (
   select min(i.user_priority) as lowest, max(i.user_priority) as highest from taskqueue.job i
    where i.setup = q.setup and i.task_queue_id = q.task_queue_id and i.held = h.held) l
 cross join lateral generate_series(l.lowest::int, l.highest::int) u (user_priority)
 cross join lateral (
   select i.held, i.user_priority, i.job_id, i.inserted_at from taskqueue.job i
    where i.setup = q.setup and i.task_queue_id = q.task_queue_id and i.held = h.held
      and (i.user_priority, i.job_id) > (u.user_priority, 0) and i.user_priority <= u.user_priority
    order by i.user_priority, i.job_id limit 1) j;

comment on view taskqueue.first_job is
  'The waiting job with the lowest id, and the held job with the lowest id, for each TaskQueue and user priority. Ids '
  'usually ascend with time, so one of these jobs has waited longest; a job that came back from a lease has waited '
  'less than its id suggests.';
