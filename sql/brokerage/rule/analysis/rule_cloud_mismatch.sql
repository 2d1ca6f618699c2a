-- See analysis-candidates.md, cloud-mismatch.
create or replace function brokerage.rule_cloud_mismatch(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.cloud not in ('', 'any') and t.cloud is distinct from q.cloud
    then format('cloud is %s, the task''s is %s', coalesce(q.cloud, 'not set'), t.cloud)
  end
$$;

comment on function brokerage.rule_cloud_mismatch(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'cloud-mismatch: a task that names a cloud runs in that cloud.';
