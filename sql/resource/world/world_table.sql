create or replace function resource.world_table(p_table text) returns regclass
language sql stable as $$
  select resource.table_of_world('resource', p_table,
    '{resource_type,queue,queue_activity,queue_storage,slot,nucleus,storage,link,'
    'software,software_tag,architecture_level,worker_gpu,share,account,queue_lock,'
    'instance_type,loaded_record}')
$$;

comment on function resource.world_table(text) is
  'A table of the schema resource that worlds are loaded into and dumped from. Errors: PB001 (another table).';
