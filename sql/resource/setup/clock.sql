-- See ARCHITECTURE.md, Time. No other function reads the time.
create or replace function resource.clock(p_setup text) returns timestamptz
language sql stable parallel safe as $$
  select coalesce((select t.now from resource.setup_time t where t.setup = p_setup), now())
$$;

comment on function resource.clock(text) is
  'The time of a setup: now(), or, in a simulated setup, the time set with resource.set_clock.';
