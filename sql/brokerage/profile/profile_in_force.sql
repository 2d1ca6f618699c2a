create or replace function brokerage.profile_in_force(p_setup text, p_profile text default null) returns text
language sql stable as $$
  select coalesce(brokerage.profile_name(p_profile),
                  (select s.profile from brokerage.setting_in_force s where s.setup = p_setup),
                  'documented')
$$;

comment on function brokerage.profile_in_force(text, text) is
  'The profile that decides in a setup: the one named in the call, else the one in the setting, else documented.';
