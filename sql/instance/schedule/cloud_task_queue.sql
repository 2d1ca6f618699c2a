-- The query makes the planner look up TaskQueues by queue, whatever it estimates.
create or replace view instance.cloud_task_queue as
select q.setup, t.task_queue_id, q.queue, instance.cores_of(t.tags) as cpu, coalesce(t.min_ram, 0)::numeric as ram
  from resource.queue q
 cross join lateral (select w.* from taskqueue.waiting_for(q.setup, q.queue) w offset 0) t
 where q.resource_type = 'cloud' and q.status is distinct from 'offline'
   -- instance types state no other tags
   and not exists (select from unnest(t.tags) n where n !~ '^([0-9]{1,8}Processors|MultiProcessor)$');

comment on view instance.cloud_task_queue is
  'TaskQueues that may be matched, that require no tags but cores, and whose only site is a PanDA queue of kind cloud '
  '(CRIC: resource_type cloud) that is not offline.';
comment on column instance.cloud_task_queue.task_queue_id is 'TaskQueue.';
comment on column instance.cloud_task_queue.cpu is 'Cores that a job needs.';
comment on column instance.cloud_task_queue.ram is 'Memory that a job needs (MB); 0 = not given.';
