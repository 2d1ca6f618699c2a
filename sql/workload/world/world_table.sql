-- World format: the tables of this room that worlds are loaded into and dumped from; no other is written by name.
create or replace function workload.world_table(p_table text) returns regclass
language plpgsql stable
as $$
begin
  if p_table in ('dataset', 'dataset_file', 'replica', 'task', 'task_dataset', 'task_result', 'statistic', 'job',
                 'user_queue_statistic', 'to_running_rate', 'remaining_work') then
    return ('workload.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001',
          hint = $h$Tables of workload that they hold: 'dataset', 'dataset_file', 'replica', 'task', 'task_dataset', 'task_result', 'statistic', 'job', 'user_queue_statistic', 'to_running_rate', 'remaining_work'.$h$;
end $$;

comment on function workload.world_table(text) is
  'A table of the room workload that the world format covers. Errors: PB001 (another one).';
