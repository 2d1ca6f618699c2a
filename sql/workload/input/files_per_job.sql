create or replace function workload.files_per_job(p_task workload.task) returns bigint
language sql immutable parallel safe as $$
  select greatest(case when (p_task).is_merging then (p_task).n_files_per_merge_job
                       else (p_task).n_files_per_job end, 1)
$$;

comment on function workload.files_per_job(workload.task) is
  'The number of files of each input dataset that a job of the task reads; 1 if the task sets no number.';
