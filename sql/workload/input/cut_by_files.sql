-- A group of equal files begins in one job and ends in another; the jobs between them are equal. There is one run for
-- all jobs, and perhaps one for the last job.
create or replace function workload.cut_by_files(p_files bigint, p_groups workload.file_group[])
returns setof workload.cut_run
language sql immutable rows 2 as $$
  with grouped as materialized (
    select u.at, u.files, u.events, u.mb, u.bytes + u.side as bytes,
           (sum(u.files) over (order by u.at))::bigint - u.files as before
      from unnest(p_groups) with ordinality u(files, events, mb, bytes, side, at)
  ), largest as (
    select max(j.events) as events, max(j.mb) as mb, max(j.bytes) as bytes
      from (select least(sum(p.files::numeric * p.events), 9e18)::bigint as events, sum(p.files * p.mb) as mb,
                   least(sum(p.files::numeric * p.bytes), 9e18)::bigint as bytes
              from (select g.before / p_files as job, least(g.files, p_files - g.before % p_files) as files, g.events,
                           g.mb, g.bytes
                      from grouped g
                    union all
                    select (g.before + g.files - 1) / p_files, (g.before + g.files - 1) % p_files + 1, g.events, g.mb,
                           g.bytes
                      from grouped g
                     where (g.before + g.files - 1) / p_files > g.before / p_files
                    union all
                    select -g.at, p_files, g.events, g.mb, g.bytes  -- a job within the group
                      from grouped g
                     where (g.before + g.files - 1) / p_files > g.before / p_files + 1) p
             group by p.job) j
  )
  select r.number, r.jobs, (r.number - 1) * p_files + 1, 0::bigint, r.files, null::bigint, null::bigint, null::bigint,
         m.events, m.mb, m.bytes
    from largest m
   cross join lateral (select sum(g.files)::bigint as files from grouped g) n
   cross join lateral (values (1::bigint, n.files / p_files, p_files),
                              (n.files / p_files + 1, (n.files % p_files > 0)::int::bigint, n.files % p_files))
                             r(number, jobs, files)
   where r.jobs > 0
$$;

comment on function workload.cut_by_files(bigint, workload.file_group[]) is
  'The jobs of p_files files each that groups of primary files make, as runs of equal jobs; the largest job is that of '
  'all runs.';
