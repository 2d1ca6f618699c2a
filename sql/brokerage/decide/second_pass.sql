-- Decisions of tasks that were decided once more have this note, since their candidates may lack the input, which would
-- look wrong without it.
create or replace function brokerage.second_pass(
  p_rules brokerage.profile_rule[], p_algorithm text, out rule text, out reason text
)
language sql stable as $$
  select r.rule, 'no queue has the input and passes the other rules: decided once more, without locality'
    from unnest(p_rules) r
   where r.algorithm = p_algorithm and r.enabled and r.kind = 'second pass'
   order by r.position, r.rule
$$;

comment on function brokerage.second_pass(brokerage.profile_rule[], text) is
  'The rule by which tasks are decided once more, and the note for them; null if the profile has no such rule.';
