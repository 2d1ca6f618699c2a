-- STATES.md, From task to TaskQueue. The files of a job are those of workload.files_of_parts. Files are counted. They
-- are read only if a copy names its files, or if two datasets of the task share a file name, since a copy of either
-- dataset has the file. Jobs that are cut by events or size (files_per_job is null) are looked up in
-- workload.input_run.
create or replace function lifecycle.missing_input(p_setup text, p_task_ids bigint[], p_queues text[])
returns table (task_id bigint, queue text, numbers int8multirange)
language sql stable rows 10000 set jit = off set enable_nestloop = off set enable_sort = off set work_mem = '64MB'
set plan_cache_mode = force_custom_plan as $$
  with lacking as materialized (
    select l.* from lifecycle.lacking_input(p_setup, p_task_ids, p_queues) l
  ), several as materialized (  -- a file that is missing in one copy may be in another
    select l.task_id, l.queue
      from lacking l
     group by l.task_id, l.queue
    having min(l.dataset) <> max(l.dataset) and not bool_and(isempty(l.there))
  ), sharing as materialized (
    select s.task_id, s.queue
      from several s
      left join lateral (
        select k.shared_files
          from workload.input_digest k
         where k.setup = p_setup and k.task_id = s.task_id
        offset 0) d on true
     where d.shared_files is not false
  )
  select x.task_id, x.queue, range_agg(x.numbers)
    from (
      select l.task_id, l.queue, int8range((lower(m.ranks) - 1) / l.files_per_job + 1,
                                           (upper(m.ranks) - 2) / l.files_per_job + 2) as numbers
        from lacking l
       cross join lateral unnest(int8multirange(int8range(1, l.files + 1)) - l.there) m(ranks)
       where l.files_per_job is not null and (l.task_id, l.queue) not in (select s.task_id, s.queue from sharing s)
      union all
      select l.task_id, l.queue, workload.parts_of_files(p_setup, l.task_id, r.first, r.last, not l.is_main)
        from lacking l
       cross join lateral unnest(int8multirange(int8range(1, l.files + 1)) - l.there) m(ranks)
       cross join lateral (select least(upper(m.ranks) - 1, max(k.primary_files)) from workload.input_digest k
                            where k.setup = p_setup and k.task_id = l.task_id) u(last)
       cross join lateral (select l.is_main or not exists (
                                    select from workload.input_run i
                                     where i.setup = p_setup and i.task_id = l.task_id and not i.by_output
                                       and (i.file_events is not null or i.first_event > 0))) w(is_whole)
       cross join lateral (select lower(m.ranks), u.last where w.is_whole
                           union all
                           select g, g from generate_series(lower(m.ranks), u.last) g where not w.is_whole)
                          r(first, last)
       where l.files_per_job is null and (l.task_id, l.queue) not in (select s.task_id, s.queue from sharing s)
      union all
      select l.task_id, l.queue, int8range((f.rank - 1) / l.files_per_job + 1, (f.rank - 1) / l.files_per_job + 2)
        from lacking l
       cross join lateral (
         select k.lfn, row_number() over (order by k.position) as rank
           from workload.dataset_file k
          where k.setup = p_setup and k.dataset = l.dataset
         offset 0) f
       where l.files_per_job is not null and (l.task_id, l.queue) in (select s.task_id, s.queue from sharing s)
       group by l.task_id, l.queue, (f.rank - 1) / l.files_per_job, f.lfn
      having not bool_or(l.there @> f.rank)
      union all
      select l.task_id, l.queue, int8range(n.number, n.number + 1)
        from lacking l
       cross join lateral (
         select k.lfn, row_number() over (order by k.position) as rank
           from workload.dataset_file k
          where k.setup = p_setup and k.dataset = l.dataset
         offset 0) f
        join workload.input_digest d on d.setup = p_setup and d.task_id = l.task_id and f.rank <= d.primary_files
       cross join lateral workload.parts_of_files(p_setup, l.task_id, f.rank, f.rank, not l.is_main) p
       cross join lateral generate_series(lower(p), upper(p) - 1) n(number)
       where l.files_per_job is null and (l.task_id, l.queue) in (select s.task_id, s.queue from sharing s)
       group by l.task_id, l.queue, n.number, f.lfn
      having not bool_or(l.there @> f.rank)
      union all
      select l.task_id, l.queue, int8range(0, 1) from lacking l) x
   group by x.task_id, x.queue
$$;

comment on function lifecycle.missing_input(text, bigint[], text[]) is
  'Numbers of the jobs whose input is not at their queue, for each pair of task and queue (parallel arrays) for which '
  'a dataset has no complete copy; 0 means the jobs without a number.';
