-- See analysis-throttles.md, share-throttle. Usage is in percent, reduced by the user's remaining slots; the lower
-- usage of the share and its parent share counts.
create or replace function brokerage.rule_share_throttle_panda2026(t brokerage.task_facts) returns text
language sql stable parallel safe as $$
  select case
    when t.gshare is distinct from 'User Analysis' or t.share_usage is null then null
    when t.task_class = -1 and least(t.share_usage, t.share_usage_above) * 100 > 90
    then format('the task is in class C, the share uses %s percent of its target, over 90',
                least(t.share_usage, t.share_usage_above) * 100)
    when t.task_class = 0 and least(t.share_usage, t.share_usage_above) * 100 > 95
    then format('the task is in class B, the share uses %s percent of its target, over 95',
                least(t.share_usage, t.share_usage_above) * 100)
    when t.task_class = 1
         and least(t.share_usage, t.share_usage_above)
             * coalesce(1 - t.rem_slots_a / nullif(t.user_usage_threshold_a, 0), 0.5) * 100 > 100
    then format('the task is in class A, the share uses %s percent of its target, times %s over 100',
                least(t.share_usage, t.share_usage_above) * 100,
                coalesce(1 - t.rem_slots_a / nullif(t.user_usage_threshold_a, 0), 0.5))
  end
$$;

comment on function brokerage.rule_share_throttle_panda2026(brokerage.task_facts) is
  'share-throttle of panda2026: tasks of lower classes wait if User Analysis and its parent share use much of their '
  'target.';
