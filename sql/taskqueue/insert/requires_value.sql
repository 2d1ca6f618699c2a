-- The value may be one text or number, or an element of a list.
create or replace function taskqueue.requires_value(p_requirements jsonb, p_attribute text, p_value text)
returns boolean
language sql immutable as $$
  select case jsonb_typeof(p_requirements -> p_attribute)
           when 'array' then p_requirements -> p_attribute ? p_value
           else p_requirements ->> p_attribute = p_value
         end
$$;

comment on function taskqueue.requires_value(jsonb, text, text) is
  'Whether canonical requirements list the value under the key; null if the key is absent.';
