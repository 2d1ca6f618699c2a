-- See production-filters.md, core-count. In panda2026 urgent tasks (priority 900 or scouts) whose jobs may have any
-- number of cores need several cores, and a task pre-assigned to one queue is exempt.
create or replace function brokerage.rule_core_count(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when t.core_count > 1 and brokerage.slot_cores(t, q, p) = 1
    then format('needs %s cores, the queue has 1', t.core_count)
    when coalesce(t.core_count, 1) = 1 and brokerage.slot_cores(t, q, p) > 1
    then format('needs 1 core, a slot of the queue has %s', q.corecount)
    when t.core_count = 0 and brokerage.slot_cores(t, q, p) = 1 and (x ->> 'urgent_wants_several')::boolean
         and (t.current_priority >= 900 or t.is_scout)
    then format('priority %s%s wants several cores, the queue has 1', t.current_priority,
                case when t.is_scout then ', scouts' end)
  end
$$;

comment on function brokerage.rule_core_count(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'core-count: jobs of one core go to queues of one core, jobs of several cores to queues of several cores, and jobs '
  'of 0 cores to all queues. Parameters: urgent_wants_several, spares_preassigned_alone (boolean).';
