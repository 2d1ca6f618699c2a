-- A thousand years are in effect no limit, and stay within the range of a timestamp.
create or replace function brokerage.recorded(
  p_setup text, p_since interval, p_until interval, p_run_id bigint
) returns setof brokerage.recording
language sql stable as $$
  select t.*
    from brokerage.recording t
   where t.setup = p_setup
     and (p_since is null
          or t.decided_at >= resource.clock(p_setup) - greatest(least(p_since, '1000 years'), '-1000 years'))
     and (p_until is null
          or t.decided_at < resource.clock(p_setup) - greatest(least(p_until, '1000 years'), '-1000 years'))
     and (p_run_id is null or t.run_id = p_run_id)
$$;

comment on function brokerage.recorded(text, interval, interval, bigint) is
  'The parts of real runs between p_since and p_until ago, or of one run, whose facts are kept; a null limit means no '
  'limit.';
