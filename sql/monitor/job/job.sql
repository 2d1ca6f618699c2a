-- The view answers the first question of a user: where is my job?
create or replace view monitor.job as
select j.setup, j.job_id, case when j.held then 'held' else 'waiting' end as state,
       case when j.held
            then (select max(h.at) from taskqueue.history h
                   where h.setup = j.setup and h.job_id = j.job_id and h.event = 'held' and h.at >= j.inserted_at)
            else j.inserted_at end as since,
       j.task_queue_id, j.user_priority,
       j.attempts, null::text as site
  from taskqueue.job j
 where (j.setup = (select resource.bound_setup())) is not false
 union all
select l.setup, l.job_id, 'leased', l.matched_at, l.task_queue_id, l.user_priority, l.attempt, l.site
  from taskqueue.lease l
 where (l.setup = (select resource.bound_setup())) is not false
 union all
select e.setup, e.job_id, e.outcome, e.ended_at, e.task_queue_id, null, e.attempts, null
  from taskqueue.ended e
 where (e.setup = (select resource.bound_setup())) is not false;

comment on view monitor.job is
  'Every job of TaskQueues with its state: waiting, held, leased, or ended with an outcome. A job is in exactly one '
  'row.';
comment on column monitor.job.state is
  'State of the job: waiting, held, leased, or its outcome (finished, failed, cancelled, closed).';
comment on column monitor.job.since is
  'When the job was inserted, held, matched or ended; null = it was held before the kept history begins.';
comment on column monitor.job.task_queue_id is 'TaskQueue in which the job waits or from which it was taken.';
comment on column monitor.job.user_priority is 'User priority; null if the job has ended.';
comment on column monitor.job.attempts is 'Number of times that the job was matched.';
comment on column monitor.job.site is 'Site that has the job; null if the job is not leased.';
