-- See ARCHITECTURE.md, Time. Every interval of a setting is at most 100 years, so a time computed from a clock within
-- these bounds stays within the range of a timestamp.
create or replace function resource.set_clock(p_setup text, p_now timestamptz) returns void
language plpgsql security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if p_now not between '0100-01-01 00:00:00+00' and '9999-12-31 00:00:00+00' then
    raise exception 'clock is %, which is not within the years 100 to 9999', p_now
      using errcode = 'PB001', hint = 'Give a time, or null for real time.';
  end if;
  perform resource.require_setup(p_setup);
  update resource.setup set simulated = p_now where setup = p_setup;
end $$;

comment on function resource.set_clock(text, timestamptz) is
  'Sets the time of a simulated setup; null returns the setup to real time. The year must be within 100 to 9999. The '
  'function is for tests, what-if and simulation. Errors: PB001, PB002 (setup not granted).';
