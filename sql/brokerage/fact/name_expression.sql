-- analysis-candidates.md, include-exclude: PanDA's code searches for a name with * by a regular expression in which *
-- becomes .*. If the name has no other special characters than the dot, like finds the same at less cost
-- (brokerage.name_patterns).
create or replace function brokerage.name_expression(p_name text) returns text
language sql immutable parallel safe as $$
  select case when p_name like '%*%' and p_name ~ E'[][\\\\^$|?+(){}]' then replace(p_name, '*', '.*') end
$$;

comment on function brokerage.name_expression(text) is
  'The regular expression that PanDA''s code uses for a name of queues with *; null if like is enough.';
