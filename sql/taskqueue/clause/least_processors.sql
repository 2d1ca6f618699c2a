create or replace function taskqueue.least_processors(p_requirements jsonb) returns int
language sql immutable as $$
  select coalesce(max(rtrim(t.tag, 'Processors')::int), 1)
    from jsonb_array_elements_text(p_requirements -> 'Tags') t (tag)
   where t.tag ~ '^[1-9][0-9]{0,3}Processors$'
$$;

comment on function taskqueue.least_processors(jsonb) is
  'Processors that a job with these requirements needs, by its tags nProcessors; 1 without one.';
