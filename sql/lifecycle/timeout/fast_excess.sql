-- TIMEOUTS.md, Fast rebrokerage. Loaded counts are included, but only the jobs of this database can be moved. All three
-- thresholds are strict and exact. panda2026 leaves queues with slots out of the total, moves one job less, and only
-- reports if the limit of the share is 0 or not set.
create or replace function lifecycle.fast_excess(p_setup text)
returns table (queue text, gshare text, queued bigint, running bigint, queued_of_share bigint, ratio float8,
               fraction float8, threshold float8, excess bigint, why_not text)
language sql stable security definer set search_path = lifecycle, pg_temp as $$
  select resource.identify_viewer(p_setup);
  with setting as materialized (  -- each value of the configuration is looked up once
    select (resource.config_value(p_setup, 'pandaserver', 'rebroker',
                                  'FAST_REBRO_THRESHOLD_NQNR_RATIO') #>> '{}')::numeric as ratio,
           (resource.config_value(p_setup, 'pandaserver', 'rebroker',
                                  'FAST_REBRO_THRESHOLD_NQUEUE_FRAC') #>> '{}')::numeric as fraction,
           coalesce((select s.timeouts from lifecycle.setting_in_force s where s.setup = p_setup),
                    'documented') as profile
  ), counted as materialized (
    select c.queue, c.gshare,
           sum(c.defined + c.assigned + c.activated + c.starting)::bigint as queued,
           sum(c.running)::bigint as running,
           exists (select from resource.slot x where x.setup = p_setup and x.queue = c.queue) as has_slots
      from workload.job_count c
     where c.setup = p_setup
     group by c.queue, c.gshare
  ), total as (
    select n.gshare,
           coalesce(sum(n.queued) filter (where s.profile = 'documented' or not n.has_slots), 0)::bigint as queued
      from counted n cross join setting s group by n.gshare
  ), threshold as materialized (
    select t.gshare,
           (resource.config_value(p_setup, 'pandaserver', 'rebroker',
                                  'FAST_REBRO_THRESHOLD_NQUEUE_' || t.gshare) #>> '{}')::numeric as jobs
      from total t
  ), compared as (
    select c.queue, c.gshare, c.queued, c.running, t.queued as total, s.ratio, s.fraction, l.jobs as threshold,
           s.profile, q,
           ceil(least(c.queued - c.running * s.ratio, c.queued - coalesce(l.jobs, 0),
                      c.queued - t.queued * s.fraction)) as excess, c.has_slots
      from counted c
     cross join setting s
      join total t on t.gshare is not distinct from c.gshare
      join threshold l on l.gshare is not distinct from c.gshare
      left join resource.queue q on q.setup = p_setup and q.queue = c.queue
     where c.queued > 0
  )
  select c.queue, c.gshare, c.queued, c.running, c.total, c.ratio::float8, c.fraction::float8, c.threshold::float8,
         greatest(c.excess - (c.profile = 'panda2026')::int, 0)::bigint,
         case when c.queued <= c.running * c.ratio
              then format('%s queued, not above %s times %s running', c.queued, c.ratio, c.running)
              when c.queued <= c.total * c.fraction
              then format('%s queued, not above %s of the %s of the share', c.queued, c.fraction, c.total)
              when c.threshold is null
              then format('FAST_REBRO_THRESHOLD_NQUEUE_%s is not set', coalesce(c.gshare, '<gshare>'))
              when c.threshold = 0 and c.profile = 'panda2026'
              then format('FAST_REBRO_THRESHOLD_NQUEUE_%s is 0', c.gshare)
              when c.queued <= c.threshold
              then format('%s queued, not above %s (FAST_REBRO_THRESHOLD_NQUEUE_%s)', c.queued, c.threshold, c.gshare)
              when c.has_slots then format('queue %s has slots of its own', c.queue)
              when c.profile = 'documented'
                   and lifecycle.is_exempt((c.q).status, (c.q).catchall, '{paused,disableReassign}')
              then format('queue %s is paused or marked disableReassign', c.queue)
         end
    from compared c
$$;

comment on function lifecycle.fast_excess(text) is
  'Queues and shares with queued jobs (defined, assigned, activated, starting): the three thresholds of fast '
  'rebrokerage, the number of jobs above all of them, and the reason why these jobs stay (why_not, null if they are '
  'brokered again). Errors: PB002 (setup not granted).';
