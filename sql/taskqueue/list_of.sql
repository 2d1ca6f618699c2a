-- One list of canonical requirements.
create or replace function taskqueue.list_of(p_requirements jsonb, p_key text) returns text[]
language sql immutable
as $$
  select coalesce((select array_agg(e order by e) from jsonb_array_elements_text(p_requirements -> p_key) e), '{}')
$$;

comment on function taskqueue.list_of(jsonb, text) is
'The values of a list of canonical requirements, sorted; empty where it is absent.';
