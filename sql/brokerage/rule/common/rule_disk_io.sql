-- See production-load.md, disk-io. The task's value is divided by the cores of the whole queue's slot, unless its jobs
-- have one core. The comparison is exact: the limit is multiplied by the cores instead.
create or replace function brokerage.rule_disk_io(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.disk_io > 0 and q.average_diskio > 0 and coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default) > 0
         and q.average_diskio > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
         and brokerage.compare(
               t.disk_io, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default) * brokerage.disk_io_cores(t, q, p),
               t.disk_io::numeric,
               coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)::numeric * brokerage.disk_io_cores(t, q, p)) > 0
    then format('the task''s diskIO of %s kB/s per core and the queue''s average of %s are over the limit of %s',
                t.disk_io / brokerage.disk_io_cores(t, q, p), q.average_diskio,
                coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default))
  end
$$;

comment on function brokerage.rule_disk_io(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'disk-io: a task of high diskIO is rejected if the average of the running jobs is over the limit (kB/s per core).';
