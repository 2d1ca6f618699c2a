-- See analysis-throttles.md, quota. In PanDA's code only merge jobs run near the limit.
create or replace function brokerage.rule_quota(t brokerage.task_facts, x jsonb) returns text
language sql stable parallel safe as $$
  select case
    when not t.quota_is_kept
    then case when t.quota_used > t.quota_limit
              then format('%s bytes of disk are used, the quota is %s', t.quota_used, t.quota_limit)
              else 'the disk quota is exceeded or cannot be read' end
    when (x ->> 'near_limit')::boolean and t.quota_is_near and t.is_merging is not true
    then format('%s bytes of disk are used, near the quota of %s: only merge jobs run',
                coalesce(t.quota_used::text, 'some'), coalesce(t.quota_limit::text, 'some'))
  end
$$;

comment on function brokerage.rule_quota(brokerage.task_facts, jsonb) is
  'quota: the disk quota is not exceeded. Parameter near_limit (boolean): near the limit only merge jobs run.';
