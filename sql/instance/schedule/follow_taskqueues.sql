-- instance-scheduling.md: a task brokered to a queue of kind cloud gets its instances from here. Jobs that wait there
-- stand here too, one for each, to be packed; TaskQueues alone say whether they wait, are leased or have ended.
create or replace function instance.follow_taskqueues(p_setup text, out added bigint, out ended bigint)
language plpgsql
security definer set search_path = instance, pg_temp set enable_seqscan = off
as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform instance.lock_schedule(p_setup);
  ended := instance.end_left_jobs(p_setup);
  insert into instance.job as j (setup, job_id, task_id, queue, taskqueue_job_id, cpu, ram)
  select p_setup, nextval('instance.job_id'), n.task_id, n.queue, n.job_id, n.cpu, n.ram
    from (select c.queue, c.cpu, c.ram, j.job_id,
                 case when j.brokered then (select w.task_id from workload.job w
                                             where w.setup = p_setup and w.job_id = j.job_id) end as task_id
            from instance.cloud_task_queue c
           cross join lateral (select t.* from taskqueue.waiting_in(p_setup, c.task_queue_id) t offset 0) j
           where c.setup = p_setup
             and not exists (select from instance.job o
                              where o.setup = p_setup and o.taskqueue_job_id = j.job_id
                                and (o.state = 'placed'
                                     or o.state in ('waiting', 'unschedulable')
                                        and (o.queue, o.cpu, o.ram) is not distinct from (c.queue, c.cpu, c.ram))
                             offset 0)
           order by j.job_id) n
  on conflict (setup, taskqueue_job_id) where taskqueue_job_id is not null
  do update
     set state = 'waiting', task_id = excluded.task_id, queue = excluded.queue, cpu = excluded.cpu, ram = excluded.ram,
         instance_id = null, placed_at = null, ended_at = null, reason = null
          where j.state <> 'placed';
  get diagnostics added = row_count;
end $$;

comment on function instance.follow_taskqueues(text) is
  'Takes up the jobs that wait in TaskQueues for queues of kind cloud (resource_type cloud) that are not offline, '
  'to be packed onto instances, and ends those that have left TaskQueues; says how many. instance.schedule begins with '
  'it. Errors: PB001 (no such setup), PB002 (setup not granted).';
