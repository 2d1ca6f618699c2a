-- The first question of a user: where is my job.
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
  'Every job of TaskQueues: waiting, held, leased, or how it ended. A job is in exactly one row.';
comment on column monitor.job.state is 'waiting, held, leased, or the outcome: finished, failed, cancelled, closed.';
comment on column monitor.job.since is
  'Since when: inserted, held, matched or ended; null = held since before the history that is kept.';
comment on column monitor.job.task_queue_id is 'Queue it waits in or was taken from.';
comment on column monitor.job.user_priority is 'User priority; null when it has ended.';
comment on column monitor.job.attempts is 'How often it was matched.';
comment on column monitor.job.site is 'Site that has it; null when it is not leased.';
