-- See production-weights.md, t1-weight-factor. The factor applies to queues of the nucleus and to those that share its
-- storage.
create or replace function brokerage.weight_t1(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns float8
language sql stable parallel safe as $$
  select case
    when p.is_near is not true then 1
    else greatest(
      case when t.t1_weight > 0 then t.t1_weight
           when coalesce(t.t1_weight, 0) = 0 and t.io_intensity > 500 then 4
           else 1 end,
      case when (t.current_priority >= 900
                 or t.is_scout) and coalesce(t.event_service not in (1, 2), true)
                and p.is_preassigned is not true then 100 end)
  end
$$;

comment on function brokerage.weight_t1(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  't1-weight as a factor: t1Weight of the task, 4 for high ioIntensity, and at least 100 for urgent tasks and scouts.';
