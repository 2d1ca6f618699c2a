-- task-brokerage.md, task-input-scan: a task does not follow database releases and logs.
create or replace function brokerage.is_scanned(p_dataset text) returns boolean
language sql immutable parallel safe as $$
  select p_dataset not like 'ddo%' and split_part(p_dataset, '.', 5) <> 'log'
$$;

comment on function brokerage.is_scanned(text) is
  'Whether the place of an input dataset counts for panda2026: database releases and logs are left out.';
