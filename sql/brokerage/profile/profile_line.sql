-- The nearest profile comes first.
create or replace view brokerage.profile_line as
with recursive line as (
  select p.profile, p.profile as of_profile, 0 as depth
    from (select profile from brokerage.shipped_profile union select profile from brokerage.profile) p
  union all
  select l.profile, o.based_on, l.depth + 1
    from line l
    join brokerage.profile o on o.profile = l.of_profile
   where l.depth < 20
)
select l.profile, l.of_profile, l.depth from line l;

comment on view brokerage.profile_line is 'Each profile with itself and the profiles on which it is based.';
comment on column brokerage.profile_line.profile is 'Profile.';
comment on column brokerage.profile_line.of_profile is 'The profile itself, or one on which it is based.';
comment on column brokerage.profile_line.depth is
  'Distance: 0 for the profile itself, 1 for the profile on which it is based, and so on.';
