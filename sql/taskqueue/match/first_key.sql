-- An error names this key if several keys are unknown.
create or replace function taskqueue.first_key(p_object jsonb) returns text
language sql immutable as $$
  select left(min(k), 100) from jsonb_object_keys(p_object) k
$$;

comment on function taskqueue.first_key(jsonb) is
  'The first key of a JSON object in the order of texts, cut to 100 characters.';
