-- brokerage-rules 1.4a: what was measured longer ago is as if it was not.
create or replace function brokerage.is_current(p_at timestamptz, p_now timestamptz, p_most interval) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(p_at >= p_now - p_most, true)
$$;

comment on function brokerage.is_current(timestamptz, timestamptz, interval) is
  'Whether something said then still holds, at an age of p_most at most; without a time it does.';
