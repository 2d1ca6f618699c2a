-- After a load: a task is digested once, whether it was loaded or a dataset that it reads was.
create or replace function workload.digest_loaded_input(p_setup text, p_task_ids bigint[], p_datasets text[]) returns bigint
language sql
security definer set search_path = workload, pg_temp
as $$
  select workload.digest_input(p_setup, array(
           select unnest(p_task_ids)
            union
           select d.task_id from workload.task_dataset d where d.setup = p_setup and d.direction = 'input' and d.dataset = any (p_datasets)))
$$;

comment on function workload.digest_loaded_input(text, bigint[], text[]) is
'Computes workload.input_digest anew for tasks that were loaded, and for all that read one of the datasets. Returns how many tasks there were. Errors: PB002 (setup not granted).';
