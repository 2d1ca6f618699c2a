create or replace function taskqueue.value_text(p_value jsonb) returns text
language sql immutable as $$
  select case jsonb_typeof(p_value)
           when 'array' then coalesce((select string_agg(v, ', ') from jsonb_array_elements_text(p_value) v), 'none')
           else p_value #>> '{}' end
$$;

comment on function taskqueue.value_text(jsonb) is 'The value of an offered attribute in words.';
