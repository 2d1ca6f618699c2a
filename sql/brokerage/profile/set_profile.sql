create or replace function brokerage.set_profile(
  p_profile text, p_based_on text default 'documented', p_description text default ''
) returns void
language plpgsql security definer set search_path = brokerage, pg_temp as $$
declare
  v_based_on text := brokerage.profile_name(p_based_on);
  v_trial brokerage.trial;
begin
  if coalesce(p_profile, '') = ''
     or exists (select from brokerage.shipped_profile s where s.profile = brokerage.profile_name(p_profile)) then
    raise exception 'profile is %', coalesce(quote_literal(p_profile), 'null')
      using errcode = 'PB001',
            hint = 'documented and panda2026 come with the program: give your own profile another name.';
  end if;
  if not exists (select from brokerage.profile_line l where l.profile = v_based_on) then
    raise exception 'profile % cannot be based on %, which does not exist', p_profile,
      coalesce(quote_literal(p_based_on), 'null')
      using errcode = 'PB001',
            hint = format('Profiles are %s.',
                          (select string_agg(distinct l.profile, ', ') from brokerage.profile_line l));
  end if;
  if exists (select from brokerage.profile_line l where l.profile = v_based_on and l.of_profile = p_profile) then
    raise exception 'profile % cannot be based on %, which is based on it', p_profile, p_based_on
      using errcode = 'PB001', hint = 'Base it on another profile.';
  end if;
  perform from brokerage.profile p where p.profile = p_profile for update;  -- waits for a trial that begins with it
  perform brokerage.require_own_profile(p_profile);
  perform brokerage.keep_profile(u.setup, v_based_on) from brokerage.profile_use u where u.profile = p_profile;
  select t.* into v_trial
    from brokerage.trial t
    join brokerage.profile_line l on l.profile in (t.profile, t.control) and l.of_profile = p_profile
   where t.ended_at is null and brokerage.base_profile(p_profile) <> brokerage.base_profile(v_based_on)
   limit 1;
  if found then
    raise exception 'profile % cannot be based on %: trial % of setup % compares % with %', p_profile, p_based_on,
      v_trial.trial, v_trial.setup, v_trial.profile, v_trial.control
      using errcode = 'PB005', hint = 'Both need the same base profile. End the trial first: brokerage.end_trial.';
  end if;
  perform resource.require_short('profile', p_profile, 300);
  insert into brokerage.profile (profile, based_on, description)
  values (p_profile, v_based_on, coalesce(p_description, ''))
  on conflict (profile) do update set based_on = excluded.based_on, description = excluded.description;
  perform brokerage.compile_profiles(p_profile);
end $$;

comment on function brokerage.set_profile(text, text, text) is
  'Makes or changes a profile of your own: it has the rules of the profile on which it is based, unless '
  'brokerage.set_rule changes them. Errors: PB001 (the name is taken, no such profile), PB002 (through the service: '
  'another setup decides by it), PB005 (another base profile while a trial is under way).';
