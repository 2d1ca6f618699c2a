-- See production-load.md, disk-io. The rule is the same as in documented, but the quotient of the task's value is
-- rounded down.
create or replace function brokerage.rule_disk_io_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.disk_io > 0 and q.average_diskio > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
         and case when t.task_core_count > 1 and q.unified_corecount <> 0 then floor(t.disk_io / q.unified_corecount)
                  else t.disk_io end
               > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
    then format('the task''s diskIO of %s kB/s for %s cores and the queue''s average of %s are over the limit of %s',
                t.disk_io, brokerage.disk_io_cores(t, q, p), q.average_diskio,
                coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default))
  end
$$;

comment on function brokerage.rule_disk_io_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'disk-io of panda2026: a task of high diskIO is rejected if the average of the running jobs is over the limit (kB/s '
  'per core).';
