-- analysis-candidates.md, include-exclude: PanDA's code searches for a name with * by a regular expression, *
-- standing for .*. A name without other characters of expressions, the dot apart, is found by like as well and at
-- less cost (brokerage.name_patterns).
create or replace function brokerage.name_expression(p_name text) returns text
language sql immutable parallel safe as $$
  select case when p_name like '%*%' and p_name ~ E'[][\\\\^$|?+(){}]' then replace(p_name, '*', '.*') end
$$;

comment on function brokerage.name_expression(text) is
  'The regular expression for a name of queues with * in PanDA''s code; null if like is enough.';
