create or replace view taskqueue.waiting_group as
select f.setup, f.task_queue_id, f.definition_id, f.owner_group, f.cpu_time,
       taskqueue.reason_of(f, n.held, n.oldest_at) as reason, sum(n.jobs)::bigint as jobs, min(n.oldest_at) as oldest_at
  from (select j.setup, j.task_queue_id, j.held, count(*) as jobs, min(j.inserted_at) as oldest_at
          from taskqueue.job j
          join taskqueue.found_reason f on f.setup = j.setup and f.task_queue_id = j.task_queue_id
         group by j.setup, j.task_queue_id, j.held, coalesce(j.inserted_at < f.overtaken_at, false)) n
  join taskqueue.found_reason f on f.setup = n.setup and f.task_queue_id = n.task_queue_id
 group by f.setup, f.task_queue_id, f.definition_id, f.owner_group, f.cpu_time, 6;

comment on view taskqueue.waiting_group is
  'Waiting jobs by TaskQueue and reason. The view reads every waiting job, so restrict the setup.';
comment on column taskqueue.waiting_group.reason is 'Why the jobs wait (taskqueue.reason_of).';
comment on column taskqueue.waiting_group.jobs is 'Number of jobs.';
comment on column taskqueue.waiting_group.oldest_at is 'When the oldest of them was inserted.';
