-- The view tells whether taskqueue.maintain and lifecycle.watch do their work, independently of their callers
-- (health_loop judges broker run). It finds work that should have been done long ago.
create or replace view monitor.health_work as
with late as materialized (  -- otherwise each use of its columns computes them again
  select t.setup,
         greatest(t.now
                  - ((select min(m.marked_at) from taskqueue.share_mark m where m.setup = t.setup) + s.share_delay),
                  t.now - ((select min(r.seen_at)
                              from taskqueue.resources_not_rolled_up(t.setup) r) + interval '10 seconds'),
                  interval '0') as by,
         case when u.simulated is not null then ', by its clock, which is set' else '' end as clock
    from resource.setup_time t
    join resource.setup u on u.setup = t.setup
    join taskqueue.setting s on s.setup = t.setup
   where (t.setup = (select resource.bound_setup())) is not false
), unfolded as (
  select c.setup, c.task_queue_id, count(*) as changes
    from taskqueue.job_count_change c
   cross join lateral (select h.known_to, h.in_flight from taskqueue.hand h
                        where h.setup = c.setup and h.task_queue_id = c.task_queue_id
                        order by h.hand_id desc limit 1) t
   where (c.made_in >= t.known_to or c.made_in = any (t.in_flight))
     and (c.setup = (select resource.bound_setup())) is not false
   group by c.setup, c.task_queue_id
   order by 3 desc, 1, 2
   limit 1
), unfolded_job as (
  select count(*) as changes, max(t.now - c.at) as late
    from (select h.setup, h.at from workload.job_change h
           where (h.setup = (select resource.bound_setup())) is not false
           limit 100000) c
    join resource.setup_time t on t.setup = c.setup
), expired as (
  select count(*) as leases
    from (select from taskqueue.lease l
            join taskqueue.setting s on s.setup = l.setup
            join resource.setup_time t on t.setup = l.setup
           where l.state = 'matched' and l.matched_at < t.now - s.lease_time - interval '1 minute'
             and l.expires_at < t.now - interval '1 minute'
             and (l.setup = (select resource.bound_setup())) is not false
             -- these leases do not expire (lifecycle.is_exempt)
             and not (l.brokered
                      and exists (select from workload.job j
                                    join resource.queue q on q.setup = j.setup and q.queue = j.queue
                                   where j.setup = l.setup and j.job_id = l.job_id
                                     and (q.status = 'paused' or q.catchall like '%disableReassign%')))
           limit 1000) e
)
select 'maintenance' as area, 'setup ' || l.setup as object,
       case when v.verdict = 'ok' then 'done'
            else format('not done for %s%s', date_trunc('second', l.by), l.clock) end as value,
       v.verdict,
       case when v.verdict <> 'ok' then 'shares still count removed TaskQueues, counts take longer to read, '
                                        'and explain_job does not know new resources' end as cost,
       case when v.verdict <> 'ok'
            then 'call taskqueue.maintain every few seconds: broker run, or pg_cron' end as remedy
  from late l
 cross join lateral (select case when l.by > interval '1 minute' then 'advice' else 'ok' end as verdict) v
 union all
select 'maintenance', 'changes of counts',
       case when u.changes is null then '0'
            else format('%s of queue %s in setup %s', u.changes, u.task_queue_id, u.setup) end,
       v.verdict,
       case when v.verdict <> 'ok' then 'each match from the queue adds them up' end,
       case when v.verdict <> 'ok'
            then 'call taskqueue.maintain every few seconds: broker run, or pg_cron' end
  from (select) one
  left join unfolded u on true
 cross join lateral (select case when u.changes >= 500 then 'advice' else 'ok' end as verdict) v
 union all
select 'maintenance', 'changes of job counts',
       u.changes || case when u.changes = 100000 then ' or more' else '' end
       || case when u.late > interval '10 minutes' then format(', not folded for %s', date_trunc('second', u.late))
               else '' end,
       v.verdict,
       case when v.verdict <> 'ok' then 'each reader of the counts, above all brokerage, adds them up again' end,
       case when v.verdict <> 'ok'
            then 'call lifecycle.watch every few seconds: broker run, or pg_cron' end
  from unfolded_job u
 cross join lateral (
   select case when u.changes = 100000 or u.late > interval '10 minutes' then 'advice' else 'ok' end as verdict) v
 union all
select 'maintenance', 'leases that expired',
       e.leases || case when e.leases = 1000 then ' or more' else '' end,
       v.verdict,
       case when v.verdict <> 'ok' then 'jobs that no agent started do not go back to their TaskQueues' end,
       case when v.verdict <> 'ok'
            then 'call lifecycle.watch every few seconds: broker run, or pg_cron' end
  from expired e
 cross join lateral (select case when e.leases > 0 then 'advice' else 'ok' end as verdict) v;

comment on view monitor.health_work is
  'Whether the background work is done: shares, counts, resources seen and expired leases. Part of monitor.health.';
comment on column monitor.health_work.area is 'Area of the finding: maintenance.';
comment on column monitor.health_work.object is 'Setup, or the object that was examined.';
