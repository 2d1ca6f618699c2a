-- The function returns the rows of workload.job_file for one part, without numbering all files of the task: it reads
-- the index up to the part. Since the limit is not a constant, the planner expects a tenth of all files; without offset
-- 0 it would hash all files.
create or replace function workload.files_of_part(p_setup text, p_task_id bigint, p_number bigint) returns text[]
language sql stable as $$
  select array_agg(n.lfn order by n.dataset_place, n.place)
    from (select distinct on (f.lfn) f.lfn, d.position as dataset_place, f.position as place
            from workload.task t
            join workload.task_dataset d on d.setup = p_setup and d.task_id = t.task_id and d.direction = 'input'
            left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
           cross join lateral (
                  select i.position
                    from workload.dataset_file i
                   where i.setup = p_setup and i.dataset = d.dataset
                   order by i.position
                  offset (p_number - 1) * workload.files_per_job(t)
                   limit workload.files_per_job(t)) p
           cross join lateral (
                  select e.lfn, e.position
                    from workload.dataset_file e
                   where e.setup = p_setup and e.dataset = d.dataset and e.position = p.position
                  offset 0) f
           where t.setup = p_setup and t.task_id = p_task_id and workload.is_pseudo(s) is not true
             and p_number >= 1  -- a null offset counts as 0
           order by f.lfn, d.position, f.position) n
$$;

comment on function workload.files_of_part(text, bigint, bigint) is
  'The logical file names that a job reads for one part of a task''s input, each once, the primary dataset first; null '
  '= no files.';
