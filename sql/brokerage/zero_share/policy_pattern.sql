-- zero-share.md, process-groups: the old process group evgensimul is now two groups.
create or replace function brokerage.policy_pattern(p_value text, p_base_profile text) returns text
language sql stable as $$
  select replace(
    case when p_base_profile = 'documented' then regexp_replace(p_value, E'\\mevgensimul\\M', '(?:evgen|simul)', 'g')
         else p_value end, '*', '.*')
$$;

comment on function brokerage.policy_pattern(text, text) is
  'The regular expression for a value in a policy: * matches any text; in documented evgensimul matches evgen or '
  'simul.';
