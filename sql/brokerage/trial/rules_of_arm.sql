create or replace function brokerage.rules_of_arm(
  p_rules brokerage.profile_rule[], p_profile text, p_arm text
) returns brokerage.profile_rule[]
language sql stable as $$
  select array(select r.rule
                 from (select row(u.*)::brokerage.profile_rule as rule, row_number() over () as number, u.profile
                         from unnest(p_rules) u) r
                where (r.profile = p_profile) = (p_arm is distinct from 'trial')
                order by r.number)
$$;

comment on function brokerage.rules_of_arm(brokerage.profile_rule[], text, text) is
  'The rules among those of a run (brokerage.rules_of_run) that decide an arm; p_profile is the profile of the run.';
