-- The base profile decides how facts are read: the base profiles read texts of architectures and policies differently.
create or replace function brokerage.base_profile(p_profile text) returns text
language sql stable as $$
  select l.of_profile
    from brokerage.profile_line l
    join brokerage.shipped_profile s on s.profile = l.of_profile
   where l.profile = p_profile
$$;

comment on function brokerage.base_profile(text) is
  'The shipped profile on which a profile is based: documented or panda2026; null if there is no such profile.';
