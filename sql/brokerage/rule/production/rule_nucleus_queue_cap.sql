-- See network.md, nucleus-queue-cap. documented rejects all queues, including those of the nucleus. panda2026 exempts
-- own queues, and also rejects at the cap.
create or replace function brokerage.rule_nucleus_queue_cap(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when (brokerage.queued_into_nucleus(t, q, p, x) > t.nqueued_nuc_cap_for_jobs
          or (x ->> 'inclusive')::boolean and brokerage.queued_into_nucleus(t, q, p, x) = t.nqueued_nuc_cap_for_jobs)
         and not coalesce((x ->> 'spares_own')::boolean and p.is_own, false)
    then format('%s files are queued on the links into %s, NQUEUED_NUC_CAP_FOR_JOBS is %s',
                brokerage.queued_into_nucleus(t, q, p, x), coalesce(t.nucleus, 'the nucleus'),
                t.nqueued_nuc_cap_for_jobs)
  end
$$;

comment on function brokerage.rule_nucleus_queue_cap(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'nucleus-queue-cap: not too many files from anywhere are queued into the nucleus. Parameters: inclusive (boolean: '
  'the cap itself is too many), spares_own (boolean: the nucleus''s own queues are exempt), urgent_alone.';
