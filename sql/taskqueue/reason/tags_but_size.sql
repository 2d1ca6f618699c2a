create or replace function taskqueue.tags_but_size(p_tags text[]) returns text[]
language sql immutable as $$
  select coalesce(array_agg(t.tag), '{}')
    from unnest(p_tags) t (tag)
   where t.tag !~ '^[0-9]+Processors$' and t.tag not in ('MultiProcessor', 'WholeNode')
$$;

comment on function taskqueue.tags_but_size(text[]) is
  'Tags without those that describe processors (taskqueue.tags_offered).';
