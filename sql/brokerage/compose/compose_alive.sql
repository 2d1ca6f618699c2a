create or replace function brokerage.compose_alive(p_reasons text[]) returns text
language sql immutable parallel safe
return format('coalesce(%s) is null', array_to_string(p_reasons, ', '));

comment on function brokerage.compose_alive(text[]) is
  'SQL that tests whether a pair is not rejected, from the columns with the possible reasons.';
