-- Tasks with common values are decided once. The key is a digest, since texts of tasks may be long and are compared for
-- each queue.
create or replace function brokerage.class_key(p_values jsonb) returns text
language sql stable parallel safe as $$
  select encode(sha256(convert_to(p_values::text, 'UTF8')), 'hex')
$$;

comment on function brokerage.class_key(jsonb) is
  'A key for a class of tasks, from the values that its tasks have in common (SHA-256, hexadecimal).';
