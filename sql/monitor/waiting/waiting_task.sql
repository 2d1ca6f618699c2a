-- A job that a broker has not assigned has the reason of its task. A job in a TaskQueue has the reason of its
-- requirements, which is looked up once for all jobs that came together. Only activated jobs are looked up in
-- TaskQueues.
create or replace view monitor.waiting_task as
select u.setup, u.task_id, u.reason, sum(u.jobs)::bigint as jobs,
       (select r.meaning from monitor.reason r where r.reason = u.reason) as meaning
  from (
    select r.setup, r.task_id, r.reason, greatest(r.jobs_left, 0) as jobs
      from brokerage.task_reason r
    union all
    select g.setup, g.task_id,
           case g.status when 'activated' then coalesce(taskqueue.reason_of(f, g.held, g.inserted_at), 'waiting')
                         when 'assigned' then 'input_missing'
                         when 'throttled' then 'throttled'
                         else 'waiting' end, g.jobs
      from (select j.setup, j.task_id, j.status, w.task_queue_id, w.held, w.inserted_at, count(*) as jobs
              from workload.job j
              left join taskqueue.job w
                on w.setup = j.setup and w.job_id = case j.status when 'activated' then j.job_id end
             where j.ended is null and j.task_id is not null
               and j.status in ('pending', 'throttled', 'defined', 'assigned', 'activated')
             group by j.setup, j.task_id, j.status, w.task_queue_id, w.held, w.inserted_at) g
      left join taskqueue.found_reason f on f.setup = g.setup and f.task_queue_id = g.task_queue_id) u
 where (u.setup = (select resource.bound_setup())) is not false
 group by u.setup, u.task_id, u.reason;

comment on view monitor.waiting_task is
  'Waiting jobs of each task by their reason, in one word. Restrict the setup and the task.';
comment on column monitor.waiting_task.reason is 'Reason in one word (monitor.reason).';
comment on column monitor.waiting_task.jobs is 'Number of jobs; 0 if the input of the task makes no jobs.';
comment on column monitor.waiting_task.meaning is 'Meaning of the reason.';
