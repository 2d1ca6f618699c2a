-- A dataset that changes changes what its tasks read.
create or replace function workload.digest_input_of_datasets(p_setup text, p_datasets text[]) returns bigint
language sql
security definer set search_path = workload, pg_temp
as $$
  select workload.digest_input(p_setup, array(
           select distinct d.task_id from workload.task_dataset d where d.setup = p_setup and d.direction = 'input' and d.dataset = any (p_datasets)))
$$;

comment on function workload.digest_input_of_datasets(text, text[]) is
'Computes workload.input_digest anew for all tasks that read one of the datasets. Returns how many tasks there were. Errors: PB002 (setup not granted).';
