create or replace function brokerage.compares(p_value numeric, p_operator text, p_limit numeric) returns boolean
language sql immutable parallel safe as $$
  select case p_operator when '>' then p_value > p_limit
                         when '>=' then p_value >= p_limit
                         when '<' then p_value < p_limit
                         when '<=' then p_value <= p_limit
                         when '==' then p_value = p_limit when '!=' then p_value <> p_limit end
$$;

comment on function brokerage.compares(numeric, text, numeric) is
  'Result of comparing a value with a limit by an operator (>, >=, <, <=, == or !=).';
