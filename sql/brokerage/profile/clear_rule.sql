create or replace function brokerage.clear_rule(p_profile text, p_rule text, p_algorithm text default 'production_job')
returns boolean
language plpgsql security definer set search_path = brokerage, pg_temp as $$
begin
  perform brokerage.require_own_profile(brokerage.profile_name(p_profile));
  delete from brokerage.profile_rule r
   where r.profile = brokerage.profile_name(p_profile) and r.algorithm = p_algorithm and r.rule = p_rule;
  if not found then
    return false;
  end if;
  perform brokerage.compile_profiles(brokerage.profile_name(p_profile));
  return true;
end $$;

comment on function brokerage.clear_rule(text, text, text) is
  'Undoes brokerage.set_rule for a rule: a rule of your own is removed, and a shipped rule gets its original columns '
  'back. Returns false if the profile has no row for the rule. Errors: PB002 (through the service: '
  'another setup decides by the profile).';
