create or replace function workload.is_end(p_status text) returns boolean
language sql immutable parallel safe as $$
  select p_status in ('finished', 'failed', 'cancelled', 'closed')
$$;

comment on function workload.is_end(text) is 'Whether a job with this status has ended.';
