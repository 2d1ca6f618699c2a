-- A run reads the rules once and passes them on. So a decision can also use rules that are not stored.
create or replace function brokerage.rules_of(p_profile text, p_algorithm text default null)
returns brokerage.profile_rule[]
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
begin
  perform brokerage.require_profile(brokerage.profile_name(p_profile), p_algorithm);
  return array(select row(r.*)::brokerage.profile_rule
                 from brokerage.rule_in_force r
                where r.profile = brokerage.profile_name(p_profile)
                order by r.algorithm, r.position, r.rule);
end $$;

comment on function brokerage.rules_of(text, text) is
  'The rules of a profile in force, of all algorithms, for brokerage.plan_steps and brokerage.compose. Errors: PB001 '
  '(no such profile, or it has no rules for an algorithm).';
