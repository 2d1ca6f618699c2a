-- A match is stored in its lease until the lease ends, and in the history afterwards, so that a match writes one row
-- less. This view reads both.
create or replace view taskqueue.match as
select h.setup, h.at, h.job_id, h.attempt, h.task_queue_id, h.definition_id, h.cpu_time, h.owner_group, h.owner_dn,
       h.user_priority, h.site, h.grid_ce, h.role_name, h.subject
  from taskqueue.history h
 where h.event = 'matched'
union all
select l.setup, l.matched_at, l.job_id, l.attempt, l.task_queue_id, l.definition_id, d.cpu_time, d.owner_group,
       d.owner_dn, l.user_priority, l.site, l.grid_ce, l.role_name, l.subject
  from taskqueue.lease l
  join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id;

comment on view taskqueue.match is 'All matches, from the history if the lease has ended, otherwise from the lease.';
comment on column taskqueue.match.attempt is 'Number of the attempt.';
comment on column taskqueue.match.task_queue_id is
  'TaskQueue from which the job was taken; 0 for a match loaded from a dump.';
comment on column taskqueue.match.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.match.owner_group is 'Owner group.';
comment on column taskqueue.match.owner_dn is 'Owner.';
comment on column taskqueue.match.role_name is 'Database role that asked for the job.';
