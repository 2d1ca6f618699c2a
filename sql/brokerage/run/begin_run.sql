-- A run is one call of a broker; decisions refer to it. Its draws can be repeated, since it has a seed, which is drawn
-- if none is given.
create or replace function brokerage.begin_run(
  p_setup text, p_algorithm text, p_profile text default null, p_seed bigint default null, p_dry boolean default false
) returns brokerage.run
language plpgsql as $$
declare
  v_run brokerage.run;
begin
  perform from resource.setup s where s.setup = p_setup for key share;  -- another transaction may be removing the setup
  perform resource.require_known_setup(p_setup);
  insert into brokerage.run (setup, algorithm, profile, trial, seed, dry, called_by, started_at)
  values (p_setup, p_algorithm, brokerage.profile_in_force(p_setup, p_profile),
          case when p_profile is null
               then (select t.trial from brokerage.trial t
                      where t.setup = p_setup and t.ended_at is null
                        and t.control = brokerage.profile_in_force(p_setup)) end,
          coalesce(p_seed, trunc(random() * 2 ^ 31)::bigint), p_dry, resource.caller(),
          resource.clock(p_setup))
  returning * into v_run;
  perform brokerage.require_profile(v_run.profile, coalesce(p_algorithm, ''));
  return v_run;
end $$;

comment on function brokerage.begin_run(text, text, text, bigint, boolean) is
  'Begins a run of a broker. If no profile is named, the profile of the setup decides (documented by default), and a '
  'trial that is under way applies. Errors: PB001 (no such setup or profile).';
