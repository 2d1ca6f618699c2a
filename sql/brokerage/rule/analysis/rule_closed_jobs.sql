-- See analysis-load.md, closed-jobs.
create or replace function brokerage.rule_closed_jobs(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when p.closed > 0 and p.is_preassigned is not true and t.is_merging is not true
    then format('%s jobs of the task were closed there, to run elsewhere', p.closed)
  end
$$;

comment on function brokerage.rule_closed_jobs(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'closed-jobs: no job of the task was closed at the queue lately; merging and pre-assigned tasks are exempt.';
