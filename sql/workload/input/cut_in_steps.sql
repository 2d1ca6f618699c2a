-- RETRIES.md, Jobs of tasks. The files before the first step are cut by the limits with which the first job was made. A
-- part ends before the first file of a step.
create or replace function workload.cut_in_steps(p_cutting workload.cutting, p_groups workload.file_group[])
returns setof workload.cut_run
language sql immutable as $$
  with step as (
    select s.file, lead(s.file, 1, 1000000000000000) over (order by s.file) as next_file, s.limits
      from (select 1::bigint as file, '{}'::jsonb as limits
             union all
            select (l ->> 'file')::bigint, l from jsonb_array_elements(p_cutting.less) l) s
  ), placed as (
    select u.*, (sum(u.files) over (order by u.at))::bigint - u.files + 1 as first_file
      from unnest(p_groups) with ordinality u (files, events, mb, bytes, side, at)
  ), sliced as (
    select t.file, t.limits,
           array_agg(row(least(p.first_file + p.files, t.next_file) - greatest(p.first_file, t.file), p.events, p.mb,
                         p.bytes, p.side)::workload.file_group order by p.at) as groups
      from step t
      join placed p on p.first_file < t.next_file and p.first_file + p.files > t.file
     group by t.file, t.limits
  ), cut as materialized (
    select s.file, r.*
      from sliced s
     cross join lateral workload.cut_input(jsonb_populate_record(p_cutting, s.limits || '{"less": null}'), s.groups) r
  )
  select c.number + coalesce((select sum(e.jobs) from cut e where e.file < c.file), 0)::bigint, c.jobs,
         c.first_file + c.file - 1, c.first_event, c.files, c.events, c.file_events, c.cuts, c.most_events, c.most_mb,
         c.most_bytes
    from cut c
$$;

comment on function workload.cut_in_steps(workload.cutting, workload.file_group[]) is
  'The jobs of a task whose limits were lowered (less), as workload.cut_input returns them: the limits of a step hold '
  'from its first file up to the next step.';
