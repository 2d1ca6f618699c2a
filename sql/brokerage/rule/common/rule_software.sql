-- See software-check.md, software. Published software is compared when the facts are made; a reason about the platform
-- has its own tag, and the tag of the rule goes before each other reason anyway. In panda2026 ANY by itself does not
-- suffice, and the fact is the whole verdict.
create or replace function brokerage.rule_software(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when t.has_software is not true or (x ->> 'spares_preassigned')::boolean and p.is_preassigned then null
    when (x ->> 'as_prepared')::boolean then regexp_replace(p.software, '^-cache: ', '')
    when q.releases_any then null
    when q.releases_auto is not true then 'neither ANY nor AUTO is among its releases'
    when q.publishes_software is not true then 'AUTO is among its releases, but it publishes no software'
    else regexp_replace(p.software, '^-cache: ', '')
  end
$$;

comment on function brokerage.rule_software(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'software: the queue takes any release, or publishes what the task needs. '
  'Parameters: as_prepared (the prepared verdict alone decides), spares_preassigned (boolean).';
