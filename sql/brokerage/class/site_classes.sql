-- See classes.md, Classes of queues. Samples are the waits of jobs of User Analysis that started in the last four days.
-- The weight of a sample halves in 6 h (documented) or 12 h (panda2026, which takes only merge jobs and jobs of its
-- tester). A queue with fewer than two samples has no measured spread and no class. The thirds are those of grid
-- resources.
-- Long because it is one query: the limits of the classes come from the queues to which they apply.
create or replace function brokerage.site_classes(p_setup text, p_base_profile text)
returns table (queue text, site_class int, jobs bigint, mean_wait float8, upper_wait float8, long_jobs bigint,
               mean_long_wait float8, has_started boolean, hi_limit float8, lo_limit float8, reason text)
language sql stable as $$
  with job as not materialized (
    select j.queue, j.created, j.activated, j.started, j.ended, j.status
      from workload.job j
      left join workload.task t on t.setup = j.setup and t.task_id = j.task_id
     where j.setup = p_setup and j.gshare = 'User Analysis' and j.label in ('user', 'panda') and j.queue is not null
       and (p_base_profile = 'documented' or coalesce(j.processing_type, t.processing_type) = 'pmerge' or t.is_merging
            or j.user_name = 'gangarbt')
  ), moment as materialized (
    select resource.clock(p_setup) as now,
           interval '1 hour' * case when p_base_profile = 'documented' then 6 else 12 end as half
  ), sample as materialized (
    select j.queue, extract(epoch from j.started - coalesce(j.activated, j.created))::float8 as wait,
           exp(-ln(2) * extract(epoch from m.now - j.started)::float8 / extract(epoch from m.half)::float8) as weight
      from moment m
     cross join job j
     where j.started > m.now - interval '96 hours' and j.started <= m.now
       and j.started >= coalesce(j.activated, j.created)
  ), mean as materialized (
    select s.queue, count(*) as jobs, sum(s.weight) as weight, sum(s.weight * s.wait) / sum(s.weight) as mean_wait
      from sample s
     group by s.queue
  ), bound as materialized (
    select m.queue, m.jobs, m.mean_wait,
           least(
             m.mean_wait
             + case when max(s.wait) > min(s.wait)
                    then brokerage.student_t_bound(m.weight) * sqrt(sum(s.weight * (s.wait - m.mean_wait) ^ 2)
                                                                    / m.weight)
                    else 0 end, 999999) as upper_wait
      from mean m
      join sample s on s.queue = m.queue
     where m.jobs > 1
     group by m.queue, m.jobs, m.weight, m.mean_wait
  ), waiting as materialized (
    -- jobs that wait longer than the mean; at push queues a starting job still waits
    select b.queue, count(*) as jobs, avg(w.wait) as mean_wait
      from bound b
     cross join moment m
      join resource.queue q on q.setup = p_setup and q.queue = b.queue
      join job j on j.queue = b.queue and j.started is null and j.ended is null
                and j.status in ('activated', 'sent', 'starting')
                and (j.status <> 'starting' or q.workflow like 'push%')
     cross join lateral (
       select extract(epoch from m.now - case when p_base_profile = 'documented' then coalesce(j.activated, j.created)
                                              else j.created end)::float8) w(wait)
     where w.wait > b.mean_wait
     group by b.queue
  ), started as materialized (
    select s.queue, coalesce(s.last_at >= m.now - interval '1 day', false) as lately
      from workload.last_start s
     cross join moment m
     where s.setup = p_setup
  ), figure as materialized (
    select b.queue, b.jobs, b.mean_wait, b.upper_wait, coalesce(w.jobs, 0) as long_jobs,
           coalesce(w.mean_wait, b.mean_wait) as mean_long_wait,
           greatest(b.upper_wait, coalesce(w.mean_wait, b.mean_wait)) as rank,
           s.lately, coalesce(q.resource_type, 'GRID') = 'GRID' as is_grid
      from bound b
      join resource.queue q on q.setup = p_setup and q.queue = b.queue
      join started s on s.queue = b.queue
      left join waiting w on w.queue = b.queue
  ), third as materialized (
    select greatest(percentile_cont(0.333) within group (order by f.rank), 3600) as hi,
           greatest(percentile_cont(0.667) within group (order by f.rank), 10800) as lo
      from figure f
     where f.is_grid
  )
  select f.queue, c.class, f.jobs, f.mean_wait, f.upper_wait, f.long_jobs, f.mean_long_wait, f.lately, t.hi, t.lo,
         case
           when c.class = 1 then format('waits are at most %s s, of the %s s for hi', round(f.rank), round(t.hi))
           when c.class = -1 then format('waits reach %s s, over the %s s for lo', round(f.rank), round(t.lo))
           when not f.lately then 'no job started in a day'
           when f.rank > t.hi then format('waits reach %s s, between the %s s for hi and the %s s for lo',
                                          round(f.rank), round(t.hi), round(t.lo))
           else format('%s jobs wait longer than usual', f.long_jobs)
         end
    from figure f
   cross join third t
   cross join lateral (
     select case
              when f.lately and (p_base_profile = 'documented' and f.rank < t.hi and f.long_jobs < 3
                                 or p_base_profile <> 'documented'
                                    and (f.rank <= t.hi or f.upper_wait <= t.hi and f.long_jobs <= 3)) then 1
              when f.rank > t.lo then -1
              else 0
            end) c(class)
$$;

comment on function brokerage.site_classes(text, text) is
  'Classes of queues for user analysis (1 hi, 0 mid, -1 lo) by the jobs that started there (base profile documented or '
  'panda2026). The reasons are: the weighted mean of their waits and its bound of 95 percent; the number of jobs that '
  'wait longer than the mean, and their waits (s); whether a job started in the last day; the limits of hi and lo (s). '
  'A queue with fewer than two samples has no row.';
