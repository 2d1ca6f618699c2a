create or replace function workload.cutting_in_force(p_task workload.task, p_by_output boolean default false)
returns workload.cutting
language sql immutable as $$
  select case when (p_task).cutting is null then workload.cutting_of(p_task, p_by_output)
              else jsonb_populate_record(null::workload.cutting, (p_task).cutting) end
$$;

comment on function workload.cutting_in_force(workload.task, boolean) is
  'The split rules by which the input of a task is cut: those with which its first job was made, or the present ones.';
