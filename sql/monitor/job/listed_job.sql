-- The view has every job once, in the order of ids without a sort: each part is read by its primary key, and the parts
-- are merged. A brokered job has its row in workload.job. Jobs that submitters insert have ids below 10^12
-- (taskqueue.submitted_id), so the parts of taskqueue are read only below that id: a page of the newest jobs scans no
-- brokered job in vain. Conditions come after the union, and columns of other tables are scalar subqueries: a condition
-- or a join in a part would destroy its order. Waiting and held jobs are two parts, so that a condition on the status
-- leaves out parts that have no such job.
create or replace view monitor.listed_job as
select u.setup, u.job_id, u.status, u.since, u.task_id, u.queue, u.site, u.user_name, u.gshare, u.priority, u.created,
       u.lease_state
  from (
    select j.setup, j.job_id, j.status, j.state_changed as since, j.task_id, j.queue,
           (select q.panda_site from resource.queue q where q.setup = j.setup and q.queue = j.queue) as site,
           j.user_name, j.gshare, j.priority, j.created, null::text as lease_state, 9223372036854775807 as most,
           true as own
      from workload.job j
    union all
    select w.setup, w.job_id, 'waiting', w.inserted_at, null::bigint, null::text, null::text,
           (select q.owner_dn from taskqueue.task_queue q
             where q.setup = w.setup and q.task_queue_id = w.task_queue_id),
           (select q.owner_group from taskqueue.task_queue q
             where q.setup = w.setup and q.task_queue_id = w.task_queue_id),
           w.user_priority::int, w.inserted_at, null::text, 999999999999, not w.brokered and not w.held
      from taskqueue.job w
    union all
    select w.setup, w.job_id, 'held', w.inserted_at, null::bigint, null::text, null::text,
           (select q.owner_dn from taskqueue.task_queue q
             where q.setup = w.setup and q.task_queue_id = w.task_queue_id),
           (select q.owner_group from taskqueue.task_queue q
             where q.setup = w.setup and q.task_queue_id = w.task_queue_id),
           w.user_priority::int, w.inserted_at, null::text, 999999999999, not w.brokered and w.held
      from taskqueue.job w
    union all
    select l.setup, l.job_id, 'leased', l.matched_at, null::bigint, null::text, l.site,
           (select d.owner_dn from taskqueue.definition d
             where d.setup = l.setup and d.definition_id = l.definition_id),
           (select d.owner_group from taskqueue.definition d
             where d.setup = l.setup and d.definition_id = l.definition_id),
           l.user_priority::int, null::timestamptz, l.state, 999999999999, not l.brokered
      from taskqueue.lease l
    union all
    select e.setup, e.job_id, e.outcome, e.ended_at, null::bigint, null::text, e.site,
           (select k.owner_dn from taskqueue.kept_definition k
             where k.setup = e.setup and k.definition_id = e.definition_id),
           (select k.owner_group from taskqueue.kept_definition k
             where k.setup = e.setup and k.definition_id = e.definition_id),
           e.user_priority::int, null::timestamptz, null::text, 999999999999,
           (select true from workload.job b where b.setup = e.setup and b.job_id = e.job_id) is null
      from taskqueue.ended e) u
 where u.job_id <= u.most and u.own and (u.setup = (select resource.bound_setup())) is not false;

comment on view monitor.listed_job is
  'Every job once: brokered jobs with their status, and jobs that were only inserted with their state among '
  'TaskQueues. `broker jobs` reads the view page by page, by setup and job id.';
comment on column monitor.listed_job.status is
  'Status of a brokered job; for another job waiting, held, leased, or the outcome.';
comment on column monitor.listed_job.since is 'When the job got this status.';
comment on column monitor.listed_job.task_id is 'Task; null = the job has no task.';
comment on column monitor.listed_job.queue is 'PanDA queue that the job was sent to; null = no queue.';
comment on column monitor.listed_job.site is
  'Site of that queue, of the lease, or of the last lease of an ended job; null = no site.';
comment on column monitor.listed_job.user_name is
  'User, or owner; null = the requirements of an ended job are no longer kept, or a loaded job has no user.';
comment on column monitor.listed_job.gshare is 'Global share, or owner group.';
comment on column monitor.listed_job.priority is 'Current priority, or user priority.';
comment on column monitor.listed_job.created is 'When the job was made or inserted; null = not known.';
comment on column monitor.listed_job.lease_state is
  'State of the lease of a job that is not brokered: matched, or running after the first report; null for all other '
  'jobs.';
