create or replace function brokerage.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql security definer set search_path = brokerage, pg_temp as $$
begin
  perform resource.identify(p_setup);
  p_settings := resource.check_settings('brokerage.setting', p_settings);
  if p_settings ? 'profile' then
    p_settings := p_settings || jsonb_build_object('profile', brokerage.profile_name(p_settings ->> 'profile'));
    if brokerage.base_profile(p_settings ->> 'profile') is null then
      raise exception 'invalid value % for setting profile', resource.shown(p_settings -> 'profile')
        using errcode = 'PB001',
              hint = format('Profiles are %s; brokerage.set_profile makes your own.',
                            (select string_agg(distinct l.profile, ', ' order by l.profile)
                               from brokerage.profile_line l));
    end if;
  end if;
  perform resource.require_setup(p_setup);
  if p_settings ? 'profile' then
    perform brokerage.require_no_trial(p_setup, p_settings ->> 'profile');
    perform brokerage.keep_profile(p_setup, p_settings ->> 'profile');
  end if;
  perform resource.change_settings('brokerage.setting', p_setup, p_settings);
end $$;

comment on function brokerage.set_settings(text, jsonb) is
  'Changes settings of brokerage in a setup, all of them or none. They are the columns of brokerage.setting. A time is '
  'a text such as "2 days", or a number of seconds. Errors: PB001 (key or value), PB002 (setup not granted), PB005 '
  '(profile, while a trial is under way).';
