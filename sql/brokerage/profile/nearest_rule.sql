-- If another broker has the rule, the caller meant that broker; any other name may be misspelt.
create or replace function brokerage.nearest_rule(p_profile text, p_algorithm text, p_rule text) returns text
language sql stable as $$
  select concat_ws(' ', coalesce((
    select format('%s has it: give that as p_algorithm.', string_agg(r.algorithm, ', ' order by r.algorithm))
      from brokerage.rule_in_force r where r.profile = p_profile and r.rule = p_rule having count(*) > 0),
                                 (select format('The nearest is %s.', l.rule)
                                    from (select r.rule, resource.similarity(p_rule, r.rule) as likeness
                                            from brokerage.rule_in_force r
                                           where r.profile = p_profile and r.algorithm = p_algorithm) l
                                   where l.likeness > 0.4 order by l.likeness desc, l.rule limit 1)),
                   'A rule of your own needs kind, position and function.')
$$;

comment on function brokerage.nearest_rule(text, text, text) is
  'A hint for a rule that a profile does not have for an algorithm: the algorithms that have it, else the rule with '
  'the most similar name.';
