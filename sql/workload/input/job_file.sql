-- See DATA.md, Input of a task. Jobs are groups of the primary files; the other datasets are sliced in parallel.
create or replace function workload.job_file(p_setup text, p_task_ids bigint[])
returns table (task_id bigint, number bigint, "position" int, dataset text, is_main boolean, is_pseudo boolean,
               lfn text, place int, size bigint, nevents bigint)
language sql stable as $$
  with task as materialized (
    select t.task_id,
           workload.files_per_job(t) as files_per_job,
           (select min(d.position) from workload.task_dataset d
             where d.setup = p_setup and d.task_id = t.task_id and d.direction = 'input') as main
      from workload.task t
     where t.setup = p_setup and t.task_id = any (p_task_ids)
  )
  select t.task_id,
         (row_number() over (partition by t.task_id, d.position order by f.position) - 1) / t.files_per_job + 1,
         d.position, d.dataset,
         d.position = t.main, coalesce(workload.is_pseudo(s), false), f.lfn, f.position, coalesce(f.size, 0),
         coalesce(f.nevents, 0)
    from task t
    join workload.task_dataset d on d.setup = p_setup and d.task_id = t.task_id and d.direction = 'input'
    join workload.dataset_file f on f.setup = p_setup and f.dataset = d.dataset
    left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
$$;

comment on function workload.job_file(text, bigint[]) is
  'Files of the input of tasks, each with the number (from 1) of the job that reads it. No job reads a file whose '
  'number is beyond the last job.';
