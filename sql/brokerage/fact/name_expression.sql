-- PanDA's code searches for a name with * as for a regular expression, * standing for .* (D-35). What has no other
-- characters of expressions, the point apart, like finds as well and for less (brokerage.name_patterns).
create or replace function brokerage.name_expression(p_name text) returns text
language sql immutable parallel safe
as $$
  select case when p_name like '%*%' and p_name ~ '[][\\^$|?+(){}]' then replace(p_name, '*', '.*') end
$$;

comment on function brokerage.name_expression(text) is
  'The regular expression that a name of queues with * is in PanDA''s code; null where like does.';
