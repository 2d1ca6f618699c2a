-- See network.md, link-queue-cap. documented rejects above NQUEUED_SAT_CAP; panda2026 also rejects at the cap, which
-- may be 0. An unknown link passes.
create or replace function brokerage.rule_link_queue_cap(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when p.is_own is not true and coalesce(p.queued, p.queued_express) is not null
         and (brokerage.queued_on_link(t, q, p, x) > t.nqueued_sat_cap
              or (x ->> 'inclusive')::boolean and brokerage.queued_on_link(t, q, p, x) = t.nqueued_sat_cap)
         and not coalesce((x ->> 'nucleus_first')::boolean
                          and coalesce(brokerage.rule_nucleus_queue_cap(t, q, p, x),
                                       brokerage.rule_nucleus_unwritable(t, q, p)) is not null, false)
    then format('%s files are queued on the link to %s, NQUEUED_SAT_CAP is %s',
                brokerage.queued_on_link(t, q, p, x), coalesce(t.nucleus, 'the nucleus'), t.nqueued_sat_cap)
  end
$$;

comment on function brokerage.rule_link_queue_cap(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'link-queue-cap: not too many files are queued on the link to the nucleus. Parameters: inclusive (boolean: the cap '
  'itself is too many), nucleus_first and urgent_alone as in brokerage.rule_link_blocked.';
