-- MATCHING.md, Condition Tag: a job of n cores has the tag nProcessors.
create or replace function instance.cores_of(p_tags text[]) returns numeric
language sql immutable as $$
  select coalesce(max(substring(t from '^([0-9]{1,8})Processors$')::numeric), 1) from unnest(p_tags) t
$$;

comment on function instance.cores_of(text[]) is 'Cores that a job with these tags needs.';
