-- See production-filters.md, event-service. In panda2026 a task pre-assigned to one queue is exempt.
create or replace function brokerage.rule_event_service(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when t.event_service is distinct from 1
    then case when q.jobseed = 'es' then '-nones: the queue only takes event service' end
    when coalesce(q.jobseed, 'std') = 'std' then '-es: the queue takes no event service'
    when q.jobseed = 'eshigh' and coalesce(t.current_priority, 0) < 900 and t.is_scout is not true
    then format('-eshigh: priority is %s, the queue takes event service from 900 or as scouts', t.current_priority)
    when q.child_type is not null and brokerage.slot_cores(t, q, p) = 1
    then '-es_ucore: a pseudo-queue of one core takes no event service'
  end
$$;

comment on function brokerage.rule_event_service(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'event-service: the queue takes jobs of event service, or other jobs, as its jobseed says. Parameter '
  'spares_preassigned_alone (boolean).';
