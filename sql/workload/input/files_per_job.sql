create or replace function workload.files_per_job(p_task workload.task) returns bigint
language sql immutable as $$
  select case when c.events is null and c.less is null then c.files end from workload.cutting_in_force(p_task) c
$$;

comment on function workload.files_per_job(workload.task) is
  'The number of files of each input dataset that a job of the task reads; null = the jobs are cut by events or size, '
  'or the limits were lowered (workload.input_run).';
