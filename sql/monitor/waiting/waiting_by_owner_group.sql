-- taskqueue.task_queue_count looks for each card of each hand: 1.4 s for a million jobs in 10,000 TaskQueues, where one
-- look at every waiting job takes 0.3 s.
create or replace view monitor.waiting_by_owner_group as
select q.setup, q.owner_group, count(*) as task_queues, coalesce(sum(j.jobs), 0)::bigint as jobs,
       coalesce(sum(j.held), 0)::bigint as held, min(j.oldest_at) as oldest_job_at, t.now - min(j.oldest_at) as waits
  from taskqueue.task_queue q
  join resource.setup_time t on t.setup = q.setup
  left join (select i.setup, i.task_queue_id, count(*) filter (where not i.held) as jobs,
                    count(*) filter (where i.held) as held, min(i.inserted_at) filter (where not i.held) as oldest_at
               from taskqueue.job i
              group by i.setup, i.task_queue_id) j on j.setup = q.setup and j.task_queue_id = q.task_queue_id
 where (q.setup = (select resource.bound_setup())) is not false
 group by q.setup, q.owner_group, t.now;

comment on view monitor.waiting_by_owner_group is
  'TaskQueues and waiting jobs by owner group. The view reads every waiting job once. Restrict the setup.';
comment on column monitor.waiting_by_owner_group.task_queues is 'TaskQueues.';
comment on column monitor.waiting_by_owner_group.jobs is 'Waiting jobs that are not held themselves.';
comment on column monitor.waiting_by_owner_group.held is 'Waiting jobs that are held.';
comment on column monitor.waiting_by_owner_group.oldest_job_at is 'Since when the oldest job waits that is not held.';
comment on column monitor.waiting_by_owner_group.waits is 'How long.';
