-- An upgrade makes the functions of all profiles again, since a release may compose queries in another way. Each change
-- of a profile makes those of the profiles that are based on it.
create or replace function brokerage.compile_profiles(p_profile text default null) returns void
language plpgsql as $$
declare
  v_stale text;
begin
  perform brokerage.compile_profile(l.profile, p_profile is null)
     from (select distinct l.profile collate "C" as profile from brokerage.profile_line l
            where p_profile is null or l.of_profile = p_profile
            order by 1) l;
  for v_stale in
    select p.oid::regprocedure
      from pg_proc p
     where p.pronamespace = 'brokerage_compiled'::regnamespace
       and right(p.proname, 16) not in (select left(md5(l.profile), 16) from brokerage.profile_line l)
  loop
    execute 'drop function ' || v_stale;
  end loop;
end $$;

comment on function brokerage.compile_profiles(text) is
  'Makes the functions that keep the queries of a profile and of those based on it (null: all functions of all '
  'profiles), and drops the functions of removed profiles.';
