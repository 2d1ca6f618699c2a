create or replace view monitor.profile_rule as
select r.profile, r.algorithm, r.rule, r.kind, r.position, r.function, r.criteria, r.temporary, r.enabled,
       r.parameters, r.source
  from brokerage.profile_rule r;

comment on view monitor.profile_rule is
  'Changes that your own profiles make: one row for each rule that a profile adds or changes; null = as in the profile '
  'that it is based on. brokerage.rule_in_force has the result.';
