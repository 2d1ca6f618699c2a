-- See conventions.md, Job size. JEDI's rules for events and size are about the jobs whose output is merged later, so
-- merge jobs are made by the number of files alone.
create or replace function workload.cutting_of(p_task workload.task, p_by_output boolean) returns workload.cutting
language sql immutable as $$
  select case
    when (p_task).is_merging
    then row(coalesce((p_task).n_files_per_merge_job, 1),
             null, null, null, null, null, null, null, null)::workload.cutting
    when (p_task).n_files_per_job is not null
    then row((p_task).n_files_per_job, null, (p_task).n_events_per_job,
             null, null, null, null, null, null)::workload.cutting
    when (p_task).tgt_num_events_per_job is not null
    then row(null, null, null, (p_task).tgt_num_events_per_job, null, null, null, null, null)::workload.cutting
    when (p_task).n_events_per_job is not null
    then row(1, null, (p_task).n_events_per_job, null, null, null, null, null, null)::workload.cutting
    when (p_task).n_gb_per_job > 0
    then row(null, coalesce((p_task).n_max_files_per_job, 200), null, null,
             floor((p_task).n_gb_per_job::numeric * 1073741824),
             case when p_by_output and o.is_per_event then nullif(o.bytes, 0) end,
             case when p_by_output and not o.is_per_event then nullif(o.bytes, 0) end,
             case when p_by_output and o.work > 0 then o.work end, null)::workload.cutting
    else row(coalesce((p_task).n_max_files_per_job, 1),
             null, null, null, null, null, null, null, null)::workload.cutting end
    from (select greatest(coalesce((p_task).out_disk_count, 0), 0) * resource.bytes_of_unit((p_task).out_disk_unit),
                 coalesce((p_task).out_disk_unit like '%PerEvent%', false),
                 (p_task).work_disk_count * resource.bytes_of_unit((p_task).work_disk_unit)
         ) o(bytes, is_per_event, work)
$$;

comment on function workload.cutting_of(workload.task, boolean) is
  'The split rules of a task that decide which files and events a job reads. p_by_output: nGBPerJob counts the '
  'expected output and the work space, too (profile panda2026).';
