-- A reason begins with the tag of its rule, '-cap: 5 jobs ...', or with a tag of its own, '-lowmemory: needs ...',
-- which then counts. The function returns a table, so that a query with it after `from` inlines it and computes only
-- the columns that the query shows.
create or replace function brokerage.split_reason(p_reason text) returns table (criteria text, reason text)
language sql immutable parallel safe rows 1 as $$
  select substring(p_reason from '^(?:[-+][A-Za-z0-9_]+: )*([-+][A-Za-z0-9_]+): '),
         regexp_replace(p_reason, '^(?:[-+][A-Za-z0-9_]+: )+', '')
$$;

comment on function brokerage.split_reason(text) is
  'Criteria tag and words of a stored reason; null if the reason has no tag.';
