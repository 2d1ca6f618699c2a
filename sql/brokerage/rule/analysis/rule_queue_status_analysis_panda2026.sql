-- See analysis-candidates.md, queue-status. Only some statuses reject a queue; if the task names queues, only offline
-- does. A list of sites counts under the same condition as in include-exclude: with limitedSites.
create or replace function brokerage.rule_queue_status_analysis_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.status = 'offline' then 'status is offline'
    when q.status in ('brokeroff', 'test') and (t.included_sites is null or t.limited_sites is not true)
         and p.is_preassigned is not true
    then format('status is %s', q.status)
  end
$$;

comment on function brokerage.rule_queue_status_analysis_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'queue-status of analysis in panda2026: the queue is not offline, and is brokeroff or test only if the task names '
  'queues.';
