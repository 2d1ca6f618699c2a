-- See production-weights.md, weight-basic.
create or replace function brokerage.weight_basic(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select (brokerage.running_workers(t, q, p) + 1)::float8
         / (coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0)
            + coalesce(p.defined, 0) + 10)
         / case
             when coalesce(p.activated, 0) > 0
             then greatest(1, least(2, brokerage.waiting_assigned(t, q, p)::float8 / p.activated))
             when brokerage.waiting_assigned(t, q, p) > 0 then 2
             else 1
           end
$$;

comment on function brokerage.weight_basic(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'weight-basic: (running + 1) / ((activated + assigned + starting + defined + 10) * manyAssigned).';
