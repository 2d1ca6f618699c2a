-- For each column, the nearest row with a value counts; an organisation's own row precedes the shipped one.
create or replace view brokerage.rule_in_force as
with line as (
  select l.profile, l.depth, 0 as shipped, r.algorithm, r.rule, r.kind, r.position, r.function, r.criteria, r.temporary,
         r.enabled, r.parameters, r.source
    from brokerage.profile_line l
    join brokerage.profile_rule r on r.profile = l.of_profile
  union all
  select l.profile, l.depth, 1, r.algorithm, r.rule, r.kind, r.position, r.function, r.criteria, r.temporary, r.enabled,
         r.parameters, r.source
    from brokerage.profile_line l
    join brokerage.shipped_rule r on r.profile = l.of_profile
)
select s.profile, s.algorithm, s.rule,
       (array_agg(s.kind order by s.depth, s.shipped) filter (where s.kind is not null))[1] as kind,
       (array_agg(s.position order by s.depth, s.shipped) filter (where s.position is not null))[1] as position,
       (array_agg(s.function order by s.depth, s.shipped) filter (where s.function is not null))[1] as function,
       (array_agg(s.criteria order by s.depth, s.shipped) filter (where s.criteria is not null))[1] as criteria,
       coalesce((array_agg(s.temporary order by s.depth, s.shipped) filter (where s.temporary is not null))[1],
                false) as temporary,
       coalesce((array_agg(s.enabled order by s.depth, s.shipped) filter (where s.enabled is not null))[1],
                true) as enabled,
       coalesce((array_agg(s.parameters order by s.depth, s.shipped) filter (where s.parameters is not null))[1],
                '{}'::jsonb) as parameters,
       (array_agg(s.source order by s.depth, s.shipped) filter (where s.source is not null))[1] as source
  from line s
 group by s.profile, s.algorithm, s.rule;

comment on view brokerage.rule_in_force is
  'The rules in force in all profiles, including an organisation''s own. Queries are composed from them.';
comment on column brokerage.rule_in_force.profile is 'Profile.';
comment on column brokerage.rule_in_force.function is 'Function that decides; null for a choice by weight.';
