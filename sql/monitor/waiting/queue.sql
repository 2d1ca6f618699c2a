-- The view lists PanDA queues for an operator. The counts are those of brokerage, so jobs counted elsewhere are
-- included.
create or replace view monitor.queue as
select q.setup, q.queue, q.panda_site as site, q.role, q.status, q.type, q.cloud, q.corecount as cores,
       coalesce(n.waiting, 0) as waiting, coalesce(n.running, 0) as running
  from resource.queue q
  left join (
    select s.setup, s.queue,
           sum(case when s.status = any ('{pending,defined,waiting,assigned,throttled,activated}'::text[])
                    then s.njobs end)::bigint as waiting,
           sum(case when s.status = any ('{sent,starting,running,holding,merging,transferring}'::text[])
                    then s.njobs end)::bigint as running
      from workload.job_statistic s
     group by s.setup, s.queue) n on n.setup = q.setup and n.queue = q.queue
 where (q.setup = (select resource.bound_setup())) is not false;

comment on view monitor.queue is 'PanDA queues with their site, status and jobs.';
comment on column monitor.queue.site is 'PanDA site of the queue; null = not known.';
comment on column monitor.queue.cores is 'Cores of a job slot (corecount).';
comment on column monitor.queue.waiting is
  'Jobs that no JobAgent has yet: pending, defined, waiting, assigned, throttled or activated.';
comment on column monitor.queue.running is
  'Jobs that a JobAgent has: sent, starting, running, holding, merging or transferring.';
