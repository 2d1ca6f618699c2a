-- The count of jobs is a subquery, so a list that is not ordered by it counts only the jobs of the TaskQueues shown.
create or replace view monitor.task_queue as
select q.setup, q.task_queue_id, q.owner_group, q.owner_dn, q.cpu_time, q.priority,
       coalesce((select n.jobs from taskqueue.task_queue_count n
                  where n.setup = q.setup and n.task_queue_id = q.task_queue_id), 0) as jobs,
       (select count(*) from taskqueue.job h
         where h.setup = q.setup and h.task_queue_id = q.task_queue_id and h.held) as held_jobs,
       case when not q.enabled then 'disabled' when q.held then 'held'
            when exists (select from taskqueue.held_owner o where o.setup = q.setup and o.owner_dn = q.owner_dn)
            then 'owner held'
            else 'open' end as state,
       (select min(j.inserted_at) from taskqueue.first_job j
         where j.setup = q.setup and j.task_queue_id = q.task_queue_id) as oldest_job_at,
       q.created_at, q.mean_weight, q.siblings,
       d.requirements,
       (select taskqueue.reason_of(f, o.held, o.inserted_at)
          from taskqueue.found_reason f
          left join lateral (select j.held, j.inserted_at from taskqueue.first_job j
                              where j.setup = q.setup and j.task_queue_id = q.task_queue_id
                              order by j.held, j.inserted_at limit 1) o on true
         where f.setup = q.setup and f.task_queue_id = q.task_queue_id) as reason
  from taskqueue.task_queue q
  join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
 where (q.setup = (select resource.bound_setup())) is not false;

comment on view monitor.task_queue is 'TaskQueues with their requirements, jobs, age and share.';
comment on column monitor.task_queue.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.task_queue.held_jobs is 'Number of waiting jobs that are held.';
comment on column monitor.task_queue.state is 'State of the TaskQueue: open, disabled, held or owner held.';
comment on column monitor.task_queue.oldest_job_at is
  'Time since which the oldest job has waited, among the jobs with the lowest id of each user priority; that is '
  'normally the oldest of all jobs.';
comment on column monitor.task_queue.reason is
  'Reason why its oldest job that is not held waits, in one word (monitor.waiting_job).';
comment on column monitor.task_queue.siblings is
  'Number of TaskQueues that are drawn as one with it when its priority was computed, itself included (SHARES.md).';
