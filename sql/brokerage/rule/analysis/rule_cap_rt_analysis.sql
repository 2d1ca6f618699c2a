-- See analysis-load.md, cap-rt.
create or replace function brokerage.rule_cap_rt_analysis(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.queued_of_share(t, q, p) > 2 * greatest(20, brokerage.running_workers(t, q, p))
    then format('%s jobs of the share are queued, twice the running %s (20 at least) is %s',
                brokerage.queued_of_share(t, q, p), brokerage.running_workers(t, q, p),
                2 * greatest(20, brokerage.running_workers(t, q, p)))
  end
$$;

comment on function brokerage.rule_cap_rt_analysis(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'cap-rt of analysis: at most twice as many jobs of the share are queued as are running, or at most 40.';
