-- The view shows which waiting jobs the limits concern.
create or replace view monitor.site_limit as
select l.setup, l.limit_id, l.site, l.grid_ce, l.kind, l.attribute, l.value, l.ceiling, l.delay, l.burst, u.used,
       case l.kind when 'running' then u.used >= l.ceiling
                   else coalesce(l.next_at > t.now + (l.burst - 1) * l.delay, false) end as reached,
       b.task_queues, b.jobs
  from taskqueue.site_limit l
  join resource.setup_time t on t.setup = l.setup
 cross join lateral (select count(*) as used
                       from taskqueue.limit_use i where i.setup = l.setup and i.limit_id = l.limit_id) u
  left join lateral (  -- not read unless task_queues or jobs are asked for
       select count(*) as task_queues, coalesce(sum(n.jobs), 0)::bigint as jobs
         from taskqueue.posted_task_queue p
         join taskqueue.task_queue q on q.setup = p.setup and q.task_queue_id = p.task_queue_id
         join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
         join taskqueue.task_queue_count n on n.setup = p.setup and n.task_queue_id = p.task_queue_id
        where p.setup = l.setup and p.site in (l.site, '*')
          and taskqueue.requires_value(d.requirements, l.attribute, l.value)) b on true
 where (l.setup = (select resource.bound_setup())) is not false;

comment on view monitor.site_limit is
  'Limits with their current use, and the waiting jobs that they concern; these jobs are held back while the limit is '
  'reached.';
comment on column monitor.site_limit.used is 'Number of leases that count at the limit, if it is of kind running.';
comment on column monitor.site_limit.reached is 'Whether no more jobs may be matched there now.';
comment on column monitor.site_limit.task_queues is
  'Number of open TaskQueues that the site may see and that count at the limit.';
comment on column monitor.site_limit.jobs is 'Number of waiting jobs in these TaskQueues.';
