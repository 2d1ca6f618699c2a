-- See SECURITY.md. The lock waits for setups that begin to use the profile (brokerage.keep_profile).
create or replace function brokerage.require_own_profile(p_profile text) returns void
language plpgsql set lock_timeout = '2s' as $$
begin
  if resource.bound_setup() is not null then
    perform from brokerage.profile p where p.profile = p_profile for update;
    perform resource.require_own(format('profile %s', p_profile),
                                 array(select u.setup from brokerage.profile_use u where u.profile = p_profile));
  end if;
end $$;

comment on function brokerage.require_own_profile(text) is
  'Refuses a caller through the service a change of a profile by which another setup decides. Errors: PB002, 55P03 (a '
  'setup begins to use the profile now).';
