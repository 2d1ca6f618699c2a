-- A dataset without rows of files (workload.dataset.nfiles) makes a group between two places at which another dataset
-- has a file. The product of files and events of a group stays below 10^18.
create or replace function workload.groups_of_input(p_setup text, p_task_id bigint)
returns table (groups workload.file_group[])
language sql stable rows 1 as $$
  with input as materialized (
    select d.dataset, d.position, d.position = min(d.position) over () as is_main, s.nfiles,
           coalesce(s.nevents, 0) as nevents
      from workload.task_dataset d
      left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
     where d.setup = p_setup and d.task_id = p_task_id and d.direction = 'input'
  ), file as materialized (
    select i.is_main, row_number() over (partition by i.position order by f.position) as place,
           coalesce(f.size, 0) as size, coalesce(f.nevents, 0) as nevents
      from input i
      join workload.dataset_file f on f.setup = p_setup and f.dataset = i.dataset
     where i.nfiles is null
  ), side as materialized (
    select f.place, sum(f.size)::bigint as size from file f where not f.is_main group by f.place
  ), numbered as (
    select m.place, 1::bigint as files, m.nevents, m.size, coalesce(s.size, 0) as side
      from file m
      left join side s on s.place = m.place
     where m.is_main
    union all
    select b.place, lead(b.place, 1, i.nfiles + 1) over (order by b.place) - b.place, i.nevents, 0, coalesce(s.size, 0)
      from input i
     cross join lateral (select 1::bigint
                          union select n.place from side n where n.place <= i.nfiles
                          union select n.place + 1 from side n where n.place < i.nfiles) b(place)
      left join side s on s.place = b.place
     where i.is_main and i.nfiles > 0
  )
  select array_agg(row(g.files, g.nevents, case when g.size = 0 then 1 else g.size::float8 / 1048576 end, g.size,
                       g.side)::workload.file_group order by g.place)
    from (select min(n.place) as place, sum(n.files)::bigint as files, n.nevents, n.size, n.side
            from (select e.*, e.place - row_number() over (partition by e.nevents, e.size, e.side
                                                           order by e.place) as island
                    from numbered e) n
           group by n.nevents, n.size, n.side, n.island, n.place / 1000) g
$$;

comment on function workload.groups_of_input(text, bigint) is
  'The primary files of a task in groups of equal files that follow each other, with the bytes of the files that other '
  'datasets have at the same places; null = no files.';
