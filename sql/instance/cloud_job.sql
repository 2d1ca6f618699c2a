create or replace view instance.cloud_job as
select j.setup, j.job_id, q.queue, (select w.task_id from workload.job w where w.setup = j.setup and w.job_id = j.job_id and j.brokered) as task_id,
       instance.cores_of(d.tags) as cpu, coalesce(d.min_ram, 0)::numeric as ram
  from resource.queue q
  join taskqueue.task_queue_site s on s.setup = q.setup and s.value = q.queue
  join taskqueue.task_queue t on t.setup = s.setup and t.task_queue_id = s.task_queue_id
  join taskqueue.definition d on d.setup = t.setup and d.definition_id = t.definition_id
  join taskqueue.job j on j.setup = t.setup and j.task_queue_id = t.task_queue_id
 where q.resource_type = 'cloud' and q.status is distinct from 'offline' and d.sites = array[q.queue] and t.enabled and not t.held and not j.held;

comment on view instance.cloud_job is 'Jobs that wait in TaskQueues for one queue of kind cloud (CRIC: resource_type cloud) that is not offline, and may be matched.';
comment on column instance.cloud_job.setup is 'Tenant.';
comment on column instance.cloud_job.job_id is 'Job, as TaskQueues have it.';
comment on column instance.cloud_job.queue is 'The queue.';
comment on column instance.cloud_job.task_id is 'Task, where brokerage made the job.';
comment on column instance.cloud_job.cpu is 'Cores that it needs.';
comment on column instance.cloud_job.ram is 'Memory that it needs (MB); 0 = it does not say.';
