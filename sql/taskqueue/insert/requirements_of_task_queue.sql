-- The columns and requirement tables of a TaskQueue are the source from which definitions are derived.
create or replace function taskqueue.requirements_of_task_queue(p_task_queue taskqueue.task_queue) returns jsonb
language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
           'OwnerDN', p_task_queue.owner_dn, 'OwnerGroup', p_task_queue.owner_group, 'CPUTime', p_task_queue.cpu_time,
           'MinRAM', p_task_queue.min_ram, 'MaxRAM', p_task_queue.max_ram,
           'MaxNumberOfProcessors', p_task_queue.most_processors,
           'RAMPerProcessor', p_task_queue.ram_per_processor))
         || coalesce(jsonb_object_agg(r.key, r.list), '{}')
    from (select v.attribute as key,
                 jsonb_agg(case when v.attribute = 'Clauses' then v.value::jsonb else to_jsonb(v.value) end
                           order by case when v.attribute = 'Clauses' then v.value collate "C" end, v.value) as list
            from taskqueue.task_queue_requirement v
           where v.setup = p_task_queue.setup and v.task_queue_id = p_task_queue.task_queue_id
           group by v.attribute) r
$$;

comment on function taskqueue.requirements_of_task_queue(taskqueue.task_queue) is
  'Canonical requirements of a TaskQueue, from its columns and requirement tables.';
