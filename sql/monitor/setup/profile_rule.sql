create or replace view monitor.profile_rule as
select r.profile, r.algorithm, r.rule, r.kind, r.position, r.function, r.criteria, r.temporary, r.enabled,
       r.parameters, r.source
  from brokerage.profile_rule r;

comment on view monitor.profile_rule is
  'What profiles of your own change: a row a rule that they add, or of which they change something; null = as in the '
  'profile that they are based on. brokerage.rule_in_force has the result.';
