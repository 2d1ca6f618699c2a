create or replace function brokerage.compose_alive(p_reasons text[]) returns text
language sql immutable parallel safe
return format('coalesce(%s) is null', array_to_string(p_reasons, ', '));

comment on function brokerage.compose_alive(text[]) is
  'SQL of whether a pair is not lost, of the columns with the reasons for which it may be.';
