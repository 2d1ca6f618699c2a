create or replace view brokerage.profile_use as
select distinct u.setup, l.of_profile as profile
  from (select p.setup, coalesce(s.profile, 'documented') as profile
          from resource.setup p
          left join brokerage.setting s on s.setup = p.setup
        union all
        select t.setup, a.profile
          from brokerage.trial t
         cross join unnest(array[t.profile, t.control]) a (profile)
         where t.ended_at is null) u
  join brokerage.profile_line l on l.profile = u.profile;

comment on view brokerage.profile_use is
  'The profiles by whose rules setups decide: that of each setup, those of its trial, and those on which they are '
  'based. The view shows all setups to everybody, so no role may read it.';
