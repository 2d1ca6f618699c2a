-- This is the part of taskqueue.check_matching for definitions.
create or replace function taskqueue.check_definitions(p_setup text)
returns table (structure text, key text, expected text, found text) language sql stable as $$
  select 'definition', 'TaskQueue ' || q.task_queue_id, taskqueue.requirements_of_task_queue(q)::text,
         d.requirements::text
    from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
   where q.setup = p_setup and d.requirements <> taskqueue.requirements_of_task_queue(q)
  union all
  select 'definition', 'definition ' || d.definition_id, d.requirements::text, to_jsonb(d)::text
    from taskqueue.definition d
   where d.setup = p_setup
     and (d.digest, d.family, d.sibling_key, d.owner_dn, d.owner_group, d.cpu_time, d.min_ram, d.pilot_types, d.sites,
          d.banned_sites, d.grid_ces, d.platforms, d.job_types, d.tags, d.search_keys)
         is distinct from
         (md5(d.requirements::text)::uuid, taskqueue.family_of(d.requirements),
          taskqueue.sibling_key_of(d.requirements), d.requirements ->> 'OwnerDN',
          d.requirements ->> 'OwnerGroup',
          (d.requirements ->> 'CPUTime')::bigint, (d.requirements ->> 'MinRAM')::float8,
          taskqueue.list_of(d.requirements, 'PilotTypes'),
          taskqueue.list_of(d.requirements, 'Sites'), taskqueue.list_of(d.requirements, 'BannedSites'),
          taskqueue.list_of(d.requirements, 'GridCEs'),
          taskqueue.list_of(d.requirements, 'Platforms'), taskqueue.list_of(d.requirements, 'JobTypes'),
          taskqueue.list_of(d.requirements, 'Tags'),
          taskqueue.definition_keys(d.setup, taskqueue.list_of(d.requirements, 'Sites'),
                                    taskqueue.list_of(d.requirements, 'Tags')))
$$;

comment on function taskqueue.check_definitions(text) is
  'Differences between definitions and the requirements from which they are derived. No row means that everything is '
  'right.';
