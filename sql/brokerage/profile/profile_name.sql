-- The base profile documented has the shorter name doc in worlds, in cases and on the command line.
create or replace function brokerage.profile_name(p_profile text) returns text
language sql immutable
return case p_profile when 'doc' then 'documented' else p_profile end;

comment on function brokerage.profile_name(text) is
  'The name under which a profile is stored: documented for its alias doc, else the name itself.';
