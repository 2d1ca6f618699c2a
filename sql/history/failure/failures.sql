-- A window of the newest failures is read by an index, and all conditions apply within it: a busy grid has a million
-- failures a day. Failures of a task are found by its jobs. A site's other ends come from the sampled figures, since
-- counting them would read the whole history; there is no such figure for a host.
create or replace function history.failures(
  p_setup text, p_since timestamptz default null, p_by text[] default '{class,error}', p_only jsonb default '{}',
  p_limit int default 100
) returns table (site text, host text, class text, source text, code int, task_id bigint, job_id bigint,
                 meaning text, jobs bigint, share float8, first_at timestamptz, last_at timestamptz, example bigint,
                 text text, looked_since timestamptz)
language plpgsql stable security definer set search_path = history, pg_temp set jit = off as $$
#variable_conflict use_column
declare
  c_window constant int := 20000;
  v_now timestamptz := resource.clock(p_setup);
  v_since timestamptz;
  v_task bigint;
begin
  perform resource.identify_viewer(p_setup);
  perform history.require_grouping(p_since, v_now, p_by, p_only);
  perform resource.require_limit('limit', p_limit);
  v_task := (p_only -> 'task')::bigint;
  v_since := coalesce(p_since, case when v_task is null then v_now - interval '1 day' else '-infinity' end);
  return query
    with failed as materialized (
      select * from (
        select f.at, f.job_id, f.site, f.host, f.class, f.source, f.code, f.text,
               case when 'task' = any (p_by) then f.task_id end as task_id
          from monitor.failure f
         where f.setup = p_setup and f.at >= v_since and v_task is null
         order by f.at desc limit c_window) w
      union all
      select f.at, f.job_id, f.site, f.host, f.class, f.source, f.code, f.text, v_task
        from (select j.job_id, j.ended from monitor.brokered_job j
               where j.setup = p_setup and j.task_id = v_task and j.status = 'failed'
               order by j.job_id desc limit 10000) j
       cross join lateral (select i.* from monitor.failure i
                            where i.setup = p_setup and i.job_id = j.job_id and i.at >= v_since
                              and i.at between j.ended - interval '1 minute' and j.ended + interval '1 minute') f
       where v_task is not null
    ), looked as materialized (
      select case when v_task is not null then p_since when count(*) < c_window then v_since
                  else min(f.at) end as since
        from failed f
    ), text as (
      select case when 'site' = any (p_by) or 'host' = any (p_by) then f.site end as site,
             case when 'host' = any (p_by) then f.host end as host,
             case when 'class' = any (p_by) then f.class end as class,
             case when 'error' = any (p_by) then f.source end as source,
             case when 'error' = any (p_by) then f.code end as code,
             case when 'task' = any (p_by) then f.task_id end as task_id,
             case when 'job' = any (p_by) then f.job_id end as job_id,
             f.text, count(*) as jobs, min(f.at) as first_at, max(f.at) as last_at, max(f.job_id) as example
        from failed f
       where (not p_only ? 'site' or f.site = p_only ->> 'site')
         and (not p_only ? 'host' or f.host = lower(p_only ->> 'host' collate "C"))
         and (not p_only ? 'class' or f.class = p_only ->> 'class')
       group by 1, 2, 3, 4, 5, 6, 7, f.text
    ), meant as (
      select t.*, case when t.code is null
                       then (select s.meaning from taskqueue.shipped_error_of(t.source, null, t.text) s limit 1)
                  end as meaning
        from text t
    ), grouped as (
      select t.site, t.host, t.class, t.source, t.code, t.task_id, t.job_id, t.meaning, sum(t.jobs)::bigint as jobs,
             min(t.first_at) as first_at, max(t.last_at) as last_at,
             (array_agg(t.example order by t.jobs desc, t.example desc))[1] as example,
             (array_agg(t.text order by t.jobs desc, t.example desc))[1] as text
        from meant t
       group by 1, 2, 3, 4, 5, 6, 7, 8
       order by 9 desc, 11 desc, 12 desc limit p_limit
    ), ended as (
      select e.label as site, sum(u.value * u.samples) as jobs
        from looked l
       cross join lateral history.figures_over(
               p_setup, '[{"figure": "ends_at_site", "by": "site", "labels": {"outcome": "finished"}},
                          {"figure": "ends_at_site", "by": "site", "labels": {"outcome": "failed"}}]', l.since) e
       cross join lateral unnest(e.value, e.samples) u (value, samples)
       where ('site' = any (p_by) or p_only ? 'site') and 'host' <> all (p_by) and not p_only ? 'host'
         and v_task is null and l.since < v_now
       group by e.label
    )
    select g.site, g.host, g.class, g.source, g.code, g.task_id, g.job_id,
           coalesce(g.meaning, (select s.meaning from taskqueue.shipped_error_of(g.source, g.code, null) s limit 1)),
           g.jobs,
           case when e.jobs > 0 then least(g.jobs / e.jobs, 1) end, g.first_at, g.last_at, g.example, g.text, l.since
      from grouped g
     cross join looked l
      left join ended e on e.site = coalesce(g.site, p_only ->> 'site', 'none')
     order by g.jobs desc, g.last_at desc, g.example desc;
end $$;

comment on function history.failures(text, timestamptz, text[], jsonb, int) is
  'Failed ends of jobs, counted by what p_by names (site, host, class, error, task, job; a host includes its site, an '
  'error is source, code and meaning of the first error), most jobs first, at most p_limit rows (null = all). p_only: '
  'only those with these values, such as {"site": "CERN"}; keys site, host, class, task. p_since: null = within a day; '
  'of a task, all that are kept. meaning: that of a shipped error (taskqueue.shipped_error). share: fraction of the '
  'jobs that finished or failed at the site since then, from the sampled figures; null = not known, as for a host. '
  'example: a job with the most frequent text. looked_since: the newest 20,000 failures are looked at, so this is '
  'later than p_since if there are more; of a task, its newest 10,000 failed jobs. '
  'Errors: PB001 (p_since, p_by, p_only, p_limit), PB002 (setup not granted).';
