-- See worlds.md, Defaults and null. {"hours_ago": n} counts back from the clock. A setup that does not exist has the
-- real time.
create or replace function resource.describe_setup(
  p_setup text, out is_there boolean, out simulated timestamptz, out clock timestamptz
)
language plpgsql stable security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  select true, s.simulated into is_there, simulated from resource.setup s where s.setup = p_setup;
  is_there := coalesce(is_there, false);
  clock := resource.clock(p_setup);
end $$;

comment on function resource.describe_setup(text) is
  'Whether a setup exists, its simulated time (null = real time), and its clock. Errors: PB001, PB002 (setup not '
  'granted).';
