-- A task is digested once per load, even if both the task and a dataset of its input were loaded.
create or replace function workload.digest_loaded_input(p_setup text, p_task_ids bigint[], p_datasets text[])
returns bigint
language plpgsql security definer set search_path = workload, pg_temp as $$
begin
  perform workload.digest_input(p_setup, array(
            select unnest(p_task_ids)
             union
            select d.task_id from workload.task_dataset d
             where d.setup = p_setup and d.direction = 'input' and d.dataset = any (p_datasets)));
  return (select coalesce(sum(i.jobs), 0) from workload.input_digest i
           where i.setup = p_setup and i.task_id = any (p_task_ids));
end $$;

comment on function workload.digest_loaded_input(text, bigint[], text[]) is
  'Recomputes workload.input_digest for tasks that were loaded, and for all tasks that read one of the datasets. '
  'Returns the number of jobs of the loaded tasks. Errors: PB002 (setup not granted).';
