-- The datasets are sliced side by side: a job reads the primary files that it works on, and of every other dataset the
-- files at the places of the primary files that begin in the job. Files are numbered once for all jobs. If all jobs
-- have one number of files, the place of a file gives its job; otherwise places and files are joined by hashing.
create or replace function workload.files_of_parts(p_setup text, p_task_id bigint, p_numbers bigint[])
returns table (at bigint, is_main boolean, is_pseudo boolean, lfn text, size bigint, nevents bigint)
language sql stable as $$
  with file as materialized (
    select d.position = (select min(m.position) from workload.task_dataset m
                          where m.setup = p_setup and m.task_id = p_task_id and m.direction = 'input') as is_main,
           coalesce(workload.is_pseudo(s), false) as is_pseudo,
           row_number() over (partition by d.position order by f.position) as place,
           f.lfn, coalesce(f.size, 0) as size, coalesce(f.nevents, 0) as nevents
      from workload.task_dataset d
      join workload.dataset_file f on f.setup = p_setup and f.dataset = d.dataset
      left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
     where d.setup = p_setup and d.task_id = p_task_id and d.direction = 'input' and s.nfiles is null
  ), task as materialized (
    select workload.files_per_job(t) as files from workload.task t where t.setup = p_setup and t.task_id = p_task_id
  ), place as materialized (
    select p.at, x.is_main, g.place
      from workload.parts_of_task(p_setup, p_task_id, p_numbers) p
     cross join (values (true), (false)) x(is_main)
     cross join lateral generate_series(p.first_file + case when not x.is_main and p.first_event > 0 then 1 else 0 end,
                                        least(p.last_file, coalesce((select max(f.place) from file f), 0))) g(place)
     where (select t.files is null from task t)
  )
  select o.at, f.is_main, f.is_pseudo, f.lfn, f.size, f.nevents
    from file f
    join unnest(p_numbers) with ordinality o(number, at) on o.number = (f.place - 1) / (select t.files from task t) + 1
   where f.place <= (select d.primary_files from workload.input_digest d
                      where d.setup = p_setup and d.task_id = p_task_id)
  union all
  select p.at, f.is_main, f.is_pseudo, f.lfn, f.size, f.nevents
    from place p
    join file f on f.place = p.place and f.is_main = p.is_main
$$;

comment on function workload.files_of_parts(text, bigint, bigint[]) is
  'Files that jobs of a task read, for jobs by their numbers in the task; at: place of the number, from 1.';
