create or replace function workload.equal_files(p_setup text, p_task_id bigint)
returns table (nfiles bigint, nevents bigint)
language sql stable rows 1 as $$
  select s.nfiles, coalesce(s.nevents, 0)
    from workload.task_dataset d
    join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset and s.nfiles is not null
   where d.setup = p_setup and d.task_id = p_task_id and d.direction = 'input'
     and d.position = (select min(m.position) from workload.task_dataset m
                        where m.setup = p_setup and m.task_id = p_task_id and m.direction = 'input')
$$;

comment on function workload.equal_files(text, bigint) is
  'The number of files of the primary dataset of a task, and the events of each, if its files are equal and have no '
  'rows; otherwise no row.';
