-- The function returns the names of workload.files_of_parts for one job, without numbering all files of the task: it
-- reads the index up to the last place. Since the limit is not a constant, the planner expects a tenth of all files;
-- without offset 0 it would hash all files.
create or replace function workload.files_of_part(p_setup text, p_task_id bigint, p_number bigint) returns text[]
language sql stable as $$
  select array_agg(n.lfn order by n.dataset_place, n.place)
    from (select distinct on (f.lfn) f.lfn, d.position as dataset_place, f.position as place
            from workload.part_of_task(p_setup, p_task_id, p_number) w
           cross join (
                 select i.position, i.dataset, i.position = min(i.position) over () as is_main
                   from workload.task_dataset i
                  where i.setup = p_setup and i.task_id = p_task_id and i.direction = 'input') d
            left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
           cross join lateral (
                  select w.first_file + case when not d.is_main and w.first_event > 0 then 1 else 0 end as place) b
           cross join lateral (
                  select i.position
                    from workload.dataset_file i
                   where i.setup = p_setup and i.dataset = d.dataset
                   order by i.position
                  offset b.place - 1
                   limit w.last_file - b.place + 1) p
           cross join lateral (
                  select e.lfn, e.position
                    from workload.dataset_file e
                   where e.setup = p_setup and e.dataset = d.dataset and e.position = p.position
                  offset 0) f
           where workload.is_pseudo(s) is not true
           order by f.lfn, d.position, f.position) n
$$;

comment on function workload.files_of_part(text, bigint, bigint) is
  'The logical file names that a job reads for one part of a task''s input, each once, the primary dataset first; null '
  '= no files.';
