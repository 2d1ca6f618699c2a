create or replace function taskqueue.is_size_tag(p_tag text) returns boolean
language sql immutable as $$
  select p_tag ~ '^[0-9]+Processors$' or p_tag in ('MultiProcessor', 'WholeNode')
$$;

comment on function taskqueue.is_size_tag(text) is 'Whether a tag describes processors (taskqueue.tags_offered).';
