create or replace function brokerage.keep_profile(p_setup text, p_profile text) returns void
language sql as $$
  select from brokerage.profile p
   where p.profile in (select l.of_profile from brokerage.profile_line l where l.profile = p_profile
                       except
                       select u.profile from brokerage.profile_use u where u.setup = p_setup)
   order by p.profile
     for key share
$$;

comment on function brokerage.keep_profile(text, text) is
  'Keeps the profiles by whose rules a setup begins to decide from being removed, given another base, or changed by an '
  'operator of another setup, until the transaction ends.';
