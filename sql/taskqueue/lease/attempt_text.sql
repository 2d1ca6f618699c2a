-- LEASES.md, Attempts: a number for people and a random 128-bit token make one text, which clients send back unchanged.
create or replace function taskqueue.attempt_text(p_number int, p_token uuid) returns text
language sql stable as $$
  select p_number::text || '-' || replace(p_token::text, '-', '')
$$;

comment on function taskqueue.attempt_text(int, uuid) is
  'The attempt as clients see it: number, hyphen, token in 32 hexadecimal digits.';
