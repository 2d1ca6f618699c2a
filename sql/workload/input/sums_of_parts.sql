-- The position of an element is the number of its part, from 1, since the numbers of workload.job_file have no gap.
create or replace function workload.sums_of_parts(p_setup text, p_task_id bigint)
returns table (files bigint[], bytes bigint[], events bigint[])
language sql stable as $$
  select array_agg(s.files order by s.number), array_agg(s.bytes order by s.number),
         array_agg(s.events order by s.number)
    from (select f.number, count(distinct f.lfn) filter (where not f.is_pseudo) as files,
                 coalesce(sum(f.size) filter (where not f.is_pseudo), 0)::bigint as bytes,
                 coalesce(sum(f.nevents) filter (where f.is_main), 0)::bigint as events
            from workload.job_file(p_setup, array[p_task_id]) f
           group by f.number) s
$$;

comment on function workload.sums_of_parts(text, bigint) is
  'The input of a job for each part of a task''s input, as arrays: number of files (each name once), bytes of all '
  'datasets, and events of the primary dataset; null = no files.';
