create or replace function taskqueue.default_cpu_buckets() returns bigint[]
language sql immutable parallel safe as $$
  select array[500, 5000, 50000, 300000]::bigint[]
$$;

comment on function taskqueue.default_cpu_buckets() is 'The CPU buckets of a new setup, in seconds.';
