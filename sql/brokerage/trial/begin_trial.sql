-- Facts are made for a base profile, and both arms are decided from the same facts.
create or replace function brokerage.begin_trial(p_setup text, p_profile text, p_share float8 default 0.1)
returns bigint
language plpgsql security definer set search_path = brokerage, pg_temp as $$
declare
  v_profile text := brokerage.profile_name(p_profile);
  v_control text;
  v_trial bigint;
begin
  perform resource.identify(p_setup);
  if p_share is null or not (p_share > 0 and p_share < 1) then
    raise exception 'share is %', coalesce(p_share::text, 'null')
      using errcode = 'PB001', hint = 'Give the share of the tasks for the other profile: more than 0, less than 1.';
  end if;
  perform brokerage.require_no_trial(p_setup);  -- waits for a transaction that removes the setup
  perform resource.require_known_setup(p_setup);
  v_control := brokerage.profile_in_force(p_setup);
  perform from brokerage.profile p  -- keeps them from being removed or given another base
    where p.profile in (select l.of_profile from brokerage.profile_line l where l.profile in (v_profile, v_control))
    for key share;
  perform brokerage.require_profile(v_profile);
  if v_profile = v_control then
    raise exception 'profile % already decides in setup %', p_profile, p_setup
      using errcode = 'PB001', hint = 'A trial compares another profile with it: brokerage.set_profile makes one.';
  end if;
  if brokerage.base_profile(v_profile) <> brokerage.base_profile(v_control) then
    raise exception 'profile % is based on %, profile % of setup % on %', p_profile, brokerage.base_profile(v_profile),
      v_control, p_setup, brokerage.base_profile(v_control)
      using errcode = 'PB001', hint = 'Facts differ by base profile: name a profile with the same base profile.';
  end if;
  insert into brokerage.trial (setup, profile, control, share, salt, began_at, began_by)
  values (p_setup, v_profile, v_control, p_share, trunc(random() * 2 ^ 53)::bigint, resource.clock(p_setup),
          resource.caller())
  returning trial into v_trial;
  return v_trial;
end $$;

comment on function brokerage.begin_trial(text, text, float8) is
  'Begins a trial and returns its number. From the next run on, p_profile decides a share of the tasks (more than 0, '
  'less than 1) in every call that names no profile. monitor.trial_outcome compares the arms. Errors: PB001 (no such '
  'setup or profile, the profile of the setup itself, another base profile, share, isolation level), PB002 (setup not '
  'granted), PB005 (a trial is under way).';
