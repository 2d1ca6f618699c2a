-- RETRIES.md, Another host. Inlined, so that a job that avoids no host costs nothing.
create or replace function taskqueue.avoids(
  p_avoid text, p_avoid_until timestamptz, p_hosts text[], p_now timestamptz
) returns boolean
language sql immutable as $$
  select p_avoid = any (p_hosts) and p_avoid_until > p_now
$$;

comment on function taskqueue.avoids(text, timestamptz, text[], timestamptz) is
  'Whether a job with this avoid and avoid_until (taskqueue.job) avoids one of these hosts (taskqueue.hosts_at) now. '
  'False or null means that the hosts may get the job; null hosts get every job.';
