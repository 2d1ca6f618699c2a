-- The canonical requirements of a TaskQueue from its columns and requirement tables: the truth from which definitions
-- are derived.
create or replace function taskqueue.requirements_of_task_queue(p_task_queue taskqueue.task_queue) returns jsonb
language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'OwnerDN', p_task_queue.owner_dn, 'OwnerGroup', p_task_queue.owner_group, 'CPUTime', p_task_queue.cpu_time,
    'MinRAM', p_task_queue.min_ram, 'MaxRAM', p_task_queue.max_ram, 'SubmitPools',
    (select jsonb_agg(v.value order by v.value)
       from taskqueue.task_queue_submit_pool v
      where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id),
    'GridMiddlewares',
    (select jsonb_agg(v.value order by v.value)
       from taskqueue.task_queue_grid_middleware v
      where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id),
    'PilotTypes',
    (select jsonb_agg(v.value order by v.value)
       from taskqueue.task_queue_pilot_type v
      where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id),
    'Sites',
    (select jsonb_agg(v.value order by v.value)
       from taskqueue.task_queue_site v
      where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id),
    'BannedSites',
    (select jsonb_agg(v.value order by v.value)
       from taskqueue.task_queue_banned_site v
      where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id),
    'GridCEs',
    (select jsonb_agg(v.value order by v.value)
       from taskqueue.task_queue_grid_ce v
      where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id),
    'Platforms',
    (select jsonb_agg(v.value order by v.value)
       from taskqueue.task_queue_platform v
      where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id),
    'JobTypes',
    (select jsonb_agg(v.value order by v.value)
       from taskqueue.task_queue_job_type v
      where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id),
    'Tags', (select jsonb_agg(v.value order by v.value)
               from taskqueue.task_queue_tag v
              where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id)))
$$;

comment on function taskqueue.requirements_of_task_queue(taskqueue.task_queue) is
  'Canonical requirements of a TaskQueue, from its columns and requirement tables.';
