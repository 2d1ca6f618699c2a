-- Inlined into the queries that call it (ARCHITECTURE.md, A rule is a function).
create or replace function alert.is_beyond(p_rule alert.rule_in_force, p_part float8, p_whole float8) returns boolean
language sql immutable as $$
  select (p_rule.per_figure is null or p_whole > 0 and p_whole >= p_rule.per_least)
         and coalesce(p_part / nullif(p_whole, 0) > p_rule.above, p_part / nullif(p_whole, 0) < p_rule.below)
$$;

comment on function alert.is_beyond(alert.rule_in_force, float8, float8) is
  'Whether a value is beyond the limit of a rule: a part of a whole that is large enough, or, if the rule has no '
  'divisor, a part of 1.';
