-- The view is what a DBA types first: the rules of a profile, in their order, in 100 columns.
create or replace view monitor.rule as
select r.profile, r.algorithm, r.position, r.rule, r.kind, r.enabled, r.parameters, r.criteria,
       split_part(obj_description(to_regproc(r.function), 'pg_proc'), '. ', 1) as meaning, r.function, r.source
  from brokerage.rule_in_force r;

comment on view monitor.rule is
  'The rules of each profile, with those that it has from the profile on which it is based: order by position. '
  '`broker rules` prints them.';
comment on column monitor.rule.profile is 'Profile (monitor.profile).';
comment on column monitor.rule.meaning is 'Comment of the function; null for a choice by weight.';
comment on column monitor.rule.function is 'Function that decides; null for a choice by weight.';
