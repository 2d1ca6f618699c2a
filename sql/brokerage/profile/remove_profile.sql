create or replace function brokerage.remove_profile(p_profile text) returns boolean
language plpgsql security definer set search_path = brokerage, pg_temp as $$
declare
  v_user text;
begin
  if exists (select from brokerage.shipped_profile s where s.profile = brokerage.profile_name(p_profile)) then
    raise exception 'profile % comes with the program', p_profile
      using errcode = 'PB001', hint = 'Only profiles of your own can be removed.';
  end if;
  perform from brokerage.profile p where p.profile = p_profile for update;  -- waits for a trial that begins with it
  perform brokerage.require_own_profile(p_profile);
  select coalesce((select format('profile %s is based on it', p.profile)
                     from brokerage.profile p
                    where p.based_on = p_profile
                    limit 1),
                  (select format('setup %s uses it', s.setup)
                     from brokerage.setting s
                    where s.profile = p_profile
                    limit 1),
                  (select format('trial %s of setup %s uses it', t.trial, t.setup)
                     from brokerage.trial t
                    where t.profile = p_profile and t.ended_at is null
                    limit 1))
    into v_user;
  if v_user is not null then
    raise exception 'profile % is in use: %', p_profile, v_user using errcode = 'PB005', hint = 'Change that first.';
  end if;
  delete from brokerage.profile_rule r
   where r.profile = p_profile and exists (select from brokerage.profile p where p.profile = p_profile);
  delete from brokerage.profile p where p.profile = p_profile;
  if not found then
    return false;
  end if;
  perform brokerage.compile_profiles(p_profile);
  return true;
end $$;

comment on function brokerage.remove_profile(text) is
  'Removes a profile of your own with its rules; returns false if there is no such profile. Errors: PB001 (the profile '
  'comes with the program), PB002 (through the service: another setup decides by it), PB005 (it is in use).';
