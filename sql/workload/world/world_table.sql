create or replace function workload.world_table(p_table text) returns regclass
language sql stable as $$
  select resource.table_of_world('workload', p_table,
    '{dataset,dataset_file,replica,task,task_payload,task_dataset,task_result,statistic,job,'
    'failed_part,user_queue_statistic,to_running_rate,remaining_work}')
$$;

comment on function workload.world_table(text) is
  'A table of the schema workload that worlds are loaded into and dumped from. Errors: PB001 (another table).';
