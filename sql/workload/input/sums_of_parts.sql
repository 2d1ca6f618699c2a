-- Rows are put together by grouping: a join on the place of a number would loop, since the planner expects few rows.
create or replace function workload.sums_of_parts(p_setup text, p_task_id bigint, p_numbers bigint[])
returns table (files bigint[], bytes bigint[], events bigint[])
language sql stable as $$
  select array_agg(s.files order by s.at), array_agg(s.bytes order by s.at), array_agg(s.events order by s.at)
    from (select x.at, coalesce(max(x.files), 0) as files, coalesce(max(x.bytes), 0) as bytes,
                 coalesce(max(x.cut_events), max(x.file_events), 0) as events
            from (select f.at, count(distinct f.lfn) filter (where not f.is_pseudo) as files,
                         sum(f.size) filter (where not f.is_pseudo)::bigint as bytes,
                         sum(f.nevents) filter (where f.is_main)::bigint as file_events, null::bigint as cut_events
                    from workload.files_of_parts(p_setup, p_task_id, p_numbers) f
                   group by f.at
                  union all
                  select o.at, null, null, null, null from unnest(p_numbers) with ordinality o(number, at)
                  union all
                  select p.at, null, null, null, coalesce(p.events, (p.last_file - p.first_file + 1) * e.nevents)
                    from workload.parts_of_task(p_setup, p_task_id, p_numbers) p
                    left join workload.equal_files(p_setup, p_task_id) e on true
                   where (select workload.files_per_job(t) is null from workload.task t
                           where t.setup = p_setup and t.task_id = p_task_id)
                      or exists (select from workload.equal_files(p_setup, p_task_id))) x
           group by x.at) s
$$;

comment on function workload.sums_of_parts(text, bigint, bigint[]) is
  'The input of jobs of a task, by their numbers in the task, as arrays in the same order: number of files (each name '
  'once), bytes of all datasets, and events of the primary dataset.';
