-- See analysis-throttles.md, share-throttle. The number of running slots at hi sites is the threshold of class A minus
-- the remaining slots. The comparison is cross-multiplied (conventions.md, Exact arithmetic).
create or replace function brokerage.rule_share_throttle(t brokerage.task_facts) returns text
language sql stable parallel safe as $$
  select case
    when t.gshare is distinct from 'User Analysis' then null
    when t.task_class = -1 and t.share_usage > 0.9
    then format('the task is in class C, the share uses %s of its target, over 0.9', t.share_usage)
    when t.task_class = 0 and t.share_usage > 0.95
    then format('the task is in class B, the share uses %s of its target, over 0.95', t.share_usage)
    when t.task_class = 1 and t.rem_slots_a is null and t.share_usage > 2
    then format('the task is in class A, its user was not evaluated, the share uses %s of its target, over 2',
                t.share_usage)
    when t.task_class = 1 and t.rem_slots_a < t.user_usage_threshold_a and t.share_usage > 1
         and t.share_usage::numeric * (t.user_usage_threshold_a::numeric - t.rem_slots_a::numeric)
               > t.user_usage_threshold_a
    then format('the task is in class A, its user has %s slots in hi-sites, the share uses %s of its target, over %s',
                t.user_usage_threshold_a - t.rem_slots_a, t.share_usage,
                greatest(t.user_usage_threshold_a / (t.user_usage_threshold_a - t.rem_slots_a), 1))
  end
$$;

comment on function brokerage.rule_share_throttle(brokerage.task_facts) is
  'share-throttle: tasks of lower classes wait if User Analysis uses much of its target.';
