create or replace function taskqueue.tags_but_size(p_tags text[]) returns text[]
language sql immutable as $$
  select coalesce(array_agg(t.tag), '{}') from unnest(p_tags) t (tag) where not taskqueue.is_size_tag(t.tag)
$$;

comment on function taskqueue.tags_but_size(text[]) is
  'Tags without those that describe processors (taskqueue.is_size_tag).';
