-- ARCHITECTURE.md, Time.
create or replace function resource.set_clock(p_setup text, p_now timestamptz) returns void
language plpgsql security definer set search_path = resource, pg_temp as $$
begin
  perform resource.require_setup(p_setup);
  update resource.setup set simulated = p_now where setup = p_setup;
end $$;

comment on function resource.set_clock(text, timestamptz) is
  'Sets the time of a simulated setup; null gives it real time again. For tests, what-if and simulation. Errors: '
  'PB001.';
