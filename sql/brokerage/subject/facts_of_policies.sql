-- The policies of these queues refuse the share of tasks (brokerage.zero_share_refusals).
create or replace function brokerage.facts_of_policies(
  p_setup text, p_tasks brokerage.task_facts[], p_keys brokerage.task_key[], p_queues brokerage.queue_facts[],
  p_base_profile text
) returns setof brokerage.policy_facts
language sql stable as $$
  select k.number * cardinality(p_queues) + u.number, r.refusal
    from brokerage.zero_share_refusals(p_setup, array(select t.task_id from unnest(p_tasks) t), p_base_profile) r
    join (select distinct k.policy_number as number, k.share_key from unnest(p_keys) k) k on k.share_key = r.share_key
    join brokerage.unified_queues(p_queues) u on u.queue = r.queue
$$;

comment on function brokerage.facts_of_policies(
  text, brokerage.task_facts[], brokerage.task_key[], brokerage.queue_facts[], text) is
  'Sub-policies that refuse tasks, one row per kind of task and PanDA queue that refuses it.';
