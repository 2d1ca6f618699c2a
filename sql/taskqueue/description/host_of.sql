-- ENDS.md, Facts of ends. Inlined: a match calls this before it reads anything. DNS ignores the case of A to Z.
create or replace function taskqueue.host_of(p_value jsonb) returns text
language sql immutable as $$
  select case when jsonb_typeof(p_value) = 'string' and length(p_value #>> '{}') between 1 and 255
                   and not resource.unprintable(p_value #>> '{}') then lower(p_value #>> '{}' collate "C") end
$$;

comment on function taskqueue.host_of(jsonb) is
  'The name of a host in JSON, a text of 1 to 255 printable characters, in lower case; null for any other value.';
