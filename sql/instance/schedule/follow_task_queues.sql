-- PACKING.md, Queues of kind cloud.
create or replace function instance.follow_task_queues(p_setup text, out added bigint, out ended bigint)
language plpgsql security definer set search_path = instance, pg_temp
set jit = off set enable_seqscan = off set enable_material = off as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform instance.lock_schedule(p_setup);
  perform instance.skip_lost_ids();
  ended := instance.end_left_steps(p_setup);
  insert into instance.step as s (setup, step_id, task_id, queue, job_id, cpu, ram)
  select p_setup, nextval('instance.step_id'), n.task_id, n.queue, n.job_id, n.cpu, n.ram
    from (select c.queue, c.cpu, c.ram, j.job_id,
                 case when j.brokered then (select w.task_id from workload.job w
                                             where w.setup = p_setup and w.job_id = j.job_id) end as task_id
            from instance.cloud_task_queue c
           cross join lateral (select t.* from taskqueue.waiting_in(p_setup, c.task_queue_id) t offset 0) j
           where c.setup = p_setup
             and not exists (select from instance.step o
                              where o.setup = p_setup and o.job_id = j.job_id
                                and (o.state = 'placed'
                                     or o.state in ('waiting', 'unschedulable')
                                        and (o.queue, o.cpu, o.ram) is not distinct from (c.queue, c.cpu, c.ram))
                             offset 0)
           order by j.job_id) n
  on conflict (setup, job_id) where job_id is not null
  do update
     set state = 'waiting', task_id = excluded.task_id, queue = excluded.queue, cpu = excluded.cpu, ram = excluded.ram,
         instance_id = null, placed_at = null, ended_at = null, reason = null
   where s.state <> 'placed';
  get diagnostics added = row_count;
end $$;

comment on function instance.follow_task_queues(text) is
  'Adds a step for each job that waits in a TaskQueue for a PanDA queue of kind cloud (resource_type cloud) that is '
  'not offline, and ends the steps whose jobs left the TaskQueues. Returns the numbers of both. instance.schedule '
  'begins with this call. Errors: PB001 (no such setup), PB002 (setup not granted).';
