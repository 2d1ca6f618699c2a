create or replace view monitor.profile as
select h.profile, null::text as based_on, 'comes with pgbroker' as description, true as shipped, 0::bigint as rules,
       array(select u.setup
               from (select s.setup from brokerage.setting_in_force s where s.profile = h.profile
                     union
                     select t.setup from brokerage.trial t where t.profile = h.profile and t.ended_at is null) u
              where (u.setup = (select resource.bound_setup())) is not false
              order by 1) as setups,
       (select count(*) from brokerage.profile_use u
         where u.profile = h.profile and u.setup <> (select resource.bound_setup())) as other_setups
  from (select distinct s.profile from brokerage.shipped_profile s) h
 union all
select p.profile, p.based_on, p.description, false,
       (select count(*) from brokerage.profile_rule r where r.profile = p.profile),
       array(select u.setup
               from (select s.setup from brokerage.setting_in_force s where s.profile = p.profile
                     union
                     select t.setup from brokerage.trial t where t.profile = p.profile and t.ended_at is null) u
              where (u.setup = (select resource.bound_setup())) is not false
              order by 1),
       (select count(*) from brokerage.profile_use u
         where u.profile = p.profile and u.setup <> (select resource.bound_setup()))
  from brokerage.profile p;

comment on view monitor.profile is
  'The profiles that brokers can use for their decisions: those that come with pgbroker, and your own '
  '(brokerage.set_profile).';
comment on column monitor.profile.based_on is
  'Profile whose rules this profile has, unless its own rules change them; null = none.';
comment on column monitor.profile.description is 'Purpose of the profile.';
comment on column monitor.profile.shipped is 'Whether the profile comes with pgbroker, so that it cannot be changed.';
comment on column monitor.profile.rules is 'Number of rules that the profile adds or changes.';
comment on column monitor.profile.setups is 'Setups that use the profile, or try it.';
comment on column monitor.profile.other_setups is
  'Through the service: number of other setups that decide by the profile, or by one that is based on it.';
