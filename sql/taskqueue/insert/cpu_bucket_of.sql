-- MATCHING.md, CPU buckets.
create or replace function taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) returns bigint
language sql stable as $$
  select coalesce((select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time >= p_cpu_time
                    order by b.cpu_time limit 1),
                  (select b.cpu_time from taskqueue.cpu_bucket b
                    where b.setup = p_setup
                    order by b.cpu_time desc
                    limit 1))
$$;

comment on function taskqueue.cpu_bucket_of(text, numeric) is
  'The CPU bucket of a CPU time, both in seconds: the next bucket at or above it, else the highest. Null if the setup '
  'has no buckets.';
