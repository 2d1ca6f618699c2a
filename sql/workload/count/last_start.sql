-- See production-load.md, inactive-queue. An index of workload.start_count serves this view, so a queue costs one
-- look-up.
create or replace view workload.last_start as
select q.setup, q.queue, greatest(a.laststart, n.last_at, c.last_at) as last_at
  from resource.queue q
  left join resource.queue_activity a on a.setup = q.setup and a.queue = q.queue
 cross join lateral (select max(b.last_at) as last_at from workload.start_count b
                      where b.setup = q.setup and b.queue = q.queue and b.jobs > 0) n
  left join (select h.setup, h.queue, max(h.at) as last_at
               from workload.job_change h where h.to_status = 'running' and h.from_status is not null
              group by h.setup, h.queue) c on c.setup = q.setup and c.queue = q.queue;

comment on view workload.last_start is
  'The last time at which a job began to run at each queue, from loaded values (resource.queue_activity) or from a job '
  'of this database; null = not known.';
comment on column workload.last_start.queue is 'Unified queue.';
comment on column workload.last_start.last_at is 'Time of the last start; null = not known.';
