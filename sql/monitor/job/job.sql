-- The view answers the first question of a user: where is my job?
create or replace view monitor.job as
select u.setup, u.job_id, u.state, u.since, u.task_queue_id, u.user_priority, u.attempts, u.site,
       (select k.owner_dn from taskqueue.kept_definition k
         where k.setup = u.setup and k.definition_id = u.definition_id) as owner_dn,
       (select k.owner_group from taskqueue.kept_definition k
         where k.setup = u.setup and k.definition_id = u.definition_id) as owner_group,
       (select k.requirements from taskqueue.kept_definition k
         where k.setup = u.setup and k.definition_id = u.definition_id) as requirements,
       u.not_before
  from (
    select j.setup, j.job_id, case when j.held then 'held' else 'waiting' end as state,
           case when j.not_before is not null then j.inserted_at
                when j.held
                then (select max(h.at) from taskqueue.history h
                       where h.setup = j.setup and h.job_id = j.job_id and h.event = 'held' and h.at >= j.inserted_at)
                else j.inserted_at end as since,
           j.task_queue_id, j.user_priority, j.attempts, null::text as site, j.not_before,
           (select q.definition_id from taskqueue.task_queue q
             where q.setup = j.setup and q.task_queue_id = j.task_queue_id) as definition_id
      from taskqueue.job j
    union all
    select l.setup, l.job_id, 'leased', l.matched_at, l.task_queue_id, l.user_priority, l.attempt, l.site,
           null, l.definition_id
      from taskqueue.lease l
    union all
    select e.setup, e.job_id, e.outcome, e.ended_at, e.task_queue_id, e.user_priority, e.attempts, e.site,
           null, e.definition_id
      from taskqueue.ended e) u
 where (u.setup = (select resource.bound_setup())) is not false;

comment on view monitor.job is
  'Every job of TaskQueues with its state: waiting, held, leased, or ended with an outcome. A job is in exactly one '
  'row.';
comment on column monitor.job.state is
  'State of the job: waiting, held, leased, or its outcome (finished, failed, cancelled, closed).';
comment on column monitor.job.since is
  'When the job was inserted, held, matched or ended; null = it was held before the kept history begins.';
comment on column monitor.job.task_queue_id is 'TaskQueue in which the job waits or from which it was taken.';
comment on column monitor.job.attempts is 'Number of times that the job was matched.';
comment on column monitor.job.site is 'Site that has the job, or had an ended job last; null = none.';
comment on column monitor.job.not_before is 'When the hold of a retry rule ends; null = no retry rule holds the job.';
comment on column monitor.job.owner_dn is 'OwnerDN; null = the requirements of an ended job are no longer kept.';
comment on column monitor.job.owner_group is 'OwnerGroup; null as for owner_dn.';
comment on column monitor.job.requirements is 'Canonical requirements; null as for owner_dn.';
