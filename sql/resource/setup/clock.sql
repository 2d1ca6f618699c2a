-- The only place that reads the time, so that tests, what-if and simulation can set it (architecture, Time).
create or replace function resource.clock(p_setup text) returns timestamptz
language sql stable parallel safe
as $$
  select coalesce((select t.now from resource.setup_time t where t.setup = p_setup), now())
$$;

comment on function resource.clock(text) is
  'The time of a setup: now(), or, for a simulated setup, the moment set with resource.set_clock.';
