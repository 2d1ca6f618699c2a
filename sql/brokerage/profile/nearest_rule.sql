-- after: brokerage.rule_in_force
create or replace function brokerage.nearest_rule(p_profile text, p_algorithm text, p_rule text) returns text
language sql stable
as $$
  select concat_ws(' ', (select format('The nearest is %s.', l.rule)
                           from (select r.rule, resource.likeness(p_rule, r.rule) as likeness from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm) l
                          where l.likeness > 0.4 order by l.likeness desc, l.rule limit 1),
                   'A rule of your own needs kind, position and function.')
$$;

comment on function brokerage.nearest_rule(text, text, text) is 'A hint for a rule that a profile does not have: the one that is most like it.';
