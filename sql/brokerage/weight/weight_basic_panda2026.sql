-- See production-weights.md, weight-basic. manyAssigned adds 1 to both of its numbers, and does not apply if the input
-- is local. The live counter counts as defined jobs.
create or replace function brokerage.weight_basic_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select (brokerage.running_workers_panda2026(t, q, p) + 1)::float8
         / (coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0)
            + coalesce(p.defined, 0) + coalesce(q.live_jobs, 0) + 10)
         / case when p.input_is_local is true then 1
                else greatest(1, least(2, (coalesce(p.assigned, 0) + 1)::float8 / (coalesce(p.activated, 0) + 1))) end
$$;

comment on function brokerage.weight_basic_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'weight-basic of panda2026: (running + 1) / ((activated + assigned + starting + defined + 10) * manyAssigned).';
