-- MATCHING.md, CPU buckets.
create or replace function taskqueue.round_cpu_time() returns trigger
language plpgsql as $$
begin
  new.cpu_time := taskqueue.cpu_bucket_of(new.setup, new.cpu_time);
  return new;
end $$;

comment on function taskqueue.round_cpu_time() is
  'Trigger: rounds the CPU time of a TaskQueue up to its bucket, by taskqueue.cpu_bucket_of.';
