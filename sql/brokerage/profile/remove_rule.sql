create or replace function brokerage.remove_rule(p_profile text, p_rule text, p_algorithm text default 'production_job')
returns boolean
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
begin
  delete from brokerage.profile_rule r
   where r.profile = brokerage.profile_name(p_profile) and r.algorithm = p_algorithm and r.rule = p_rule;
  return found;
end $$;

comment on function brokerage.remove_rule(text, text, text) is
  'Takes back what brokerage.set_rule said of a rule: one of your own goes, a shipped one is as it came. '
  'False when nothing was said.';
