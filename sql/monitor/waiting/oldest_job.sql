-- Short jobs can starve, since the highest CPU bucket is served first. The view shows which jobs starve, and how many
-- matches higher buckets got.
create or replace view monitor.oldest_job as
select q.setup, q.task_queue_id, q.cpu_time, q.owner_group, o.job_id, o.inserted_at, t.now - o.inserted_at as waits,
       coalesce(m.matches, 0) as matches_last_hour, coalesce(h.matches, 0) as higher_matches_last_hour,
       coalesce(m.since, 0) = 0 and coalesce(h.since, 0) > 0 as starved
  from taskqueue.task_queue q
  join resource.setup_time t on t.setup = q.setup
 cross join lateral (select j.job_id, j.inserted_at from taskqueue.job j
                      where j.setup = q.setup and j.task_queue_id = q.task_queue_id and not j.held
                      order by j.inserted_at, j.job_id limit 1) o
  left join lateral (select count(*) as matches, count(*) filter (where e.at > o.inserted_at) as since
                       from taskqueue.match e
                      where e.setup = q.setup and e.at > t.now - interval '1 hour'
                        and e.task_queue_id = q.task_queue_id) m on true
  left join lateral (select count(*) as matches, count(*) filter (where e.at > o.inserted_at) as since
                       from taskqueue.match e
                      where e.setup = q.setup and e.at > t.now - interval '1 hour'
                        and e.cpu_time > q.cpu_time) h on true
 where q.enabled and not q.held
   and not exists (select from taskqueue.held_owner n where n.setup = q.setup and n.owner_dn = q.owner_dn)
   and (q.setup = (select resource.bound_setup())) is not false;

comment on view monitor.oldest_job is
  'The oldest job that waits to be matched in each open TaskQueue, and whether higher CPU buckets keep it waiting: '
  'since the job came, higher buckets got matches in the last hour and its queue got none.';
comment on column monitor.oldest_job.task_queue_id is 'TaskQueue.';
comment on column monitor.oldest_job.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.oldest_job.job_id is 'Oldest waiting job of the TaskQueue that is not held.';
comment on column monitor.oldest_job.waits is 'How long the job has waited.';
comment on column monitor.oldest_job.matches_last_hour is 'Matches from this queue within the hour.';
comment on column monitor.oldest_job.higher_matches_last_hour is 'Matches from higher buckets within the hour.';
comment on column monitor.oldest_job.starved is
  'Whether, within the hour and since the job came, higher buckets were served and this queue was not.';
