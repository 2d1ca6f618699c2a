-- See production-load.md, inactive-queue. The last start must be strictly older than 2 h; a queue without a record is
-- active. In panda2026 starting jobs also count, and pre-assigned queues are exempt.
create or replace function brokerage.rule_inactive_queue(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when (brokerage.is_high(t, q, p) or t.is_merging or t.merge_output)
         and q.laststart < t.now - interval '2 hours'
         and coalesce(q.activated_all, 0) + case when (x ->> 'starting')::boolean then coalesce(q.starting_all, 0)
                                                 else 0 end > 0
         and not coalesce((x ->> 'spares_preassigned')::boolean and p.is_preassigned, false)
    then format('no job has started for %s h though %s are activated',
                trim_scale(round(extract(epoch from t.now - q.laststart) / 3600, 1)),
                coalesce(q.activated_all, 0) + case when (x ->> 'starting')::boolean then coalesce(q.starting_all, 0)
                                                    else 0 end)
  end
$$;

comment on function brokerage.rule_inactive_queue(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'inactive-queue: tasks of high priority, scouts, merging and pre-merged jobs need a queue at which jobs start. '
  'Parameters: starting (boolean: starting jobs count), spares_preassigned (boolean).';
