-- facts-and-formulas.md, scratch-need: maxwdir is for the whole slot, unless tasks of one core share it.
create or replace function brokerage.scratch_cores_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns int
language sql stable parallel safe as $$
  select case when t.task_core_count > 1 or t.event_service in (1, 2) then 1
              else brokerage.whole_queue_cores(t, q, p) end
$$;

comment on function brokerage.scratch_cores_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Jobs that share the scratch of a slot in PanDA''s code.';
