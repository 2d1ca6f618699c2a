create or replace function brokerage.compares(p_value numeric, p_operator text, p_limit numeric) returns boolean
language sql immutable parallel safe
as $$
  select case p_operator when '>' then p_value > p_limit
                         when '>=' then p_value >= p_limit
                         when '<' then p_value < p_limit
                         when '<=' then p_value <= p_limit
                         when '==' then p_value = p_limit when '!=' then p_value <> p_limit end
$$;

comment on function brokerage.compares(numeric, text, numeric) is
  'Whether a value compares with a limit as the operator (>, >=, <, <=, == or !=) says.';
