-- The view tells whether an organisation's own profiles still compose.
create or replace view monitor.health_profile as
with fault as (
  select f.profile, f.algorithm, f.setups, f.fault, f.hint from brokerage.profile_faults() f
)
select 'profile' as area, format('profile %s, %s', f.profile, f.algorithm) as object, f.fault as value,
       case when f.setups = '{}' then 'advice' else 'problem' end as verdict,
       case when f.setups = '{}' then 'a run that names it ends with this error'
            else format('each run of the broker ends with this error in %s', array_to_string(f.setups, ', '))
       end as cost,
       concat_ws(' ', format('recreate the function, or undo the rule: broker profile clear-rule %s RULE '
                             '--algorithm %s.', f.profile, f.algorithm), f.hint) as remedy
  from fault f
 union all
select 'profile', 'profiles of your own', format('%s, and all compose', count(*)), 'ok', null, null
  from brokerage.profile_line l
 where l.depth = 0 and l.profile not in ('documented', 'panda2026')
having not exists (select from fault);

comment on view monitor.health_profile is
  'Whether the rules of your own profiles still work: their functions exist and may be called. Part of monitor.health.';
comment on column monitor.health_profile.area is 'Area of the finding: profile.';
comment on column monitor.health_profile.object is 'Name of the profile and algorithm.';
