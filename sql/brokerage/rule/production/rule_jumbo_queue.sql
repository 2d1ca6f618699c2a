-- See production-filters.md, jumbo-queue.
create or replace function brokerage.rule_jumbo_queue(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.is_only_site(t, q, p) or q.uses_jumbo is not true then null
    when coalesce(t.n_jumbo_jobs, 0) = 0 then '-jumbo: the queue only takes jumbo jobs'
    when t.events < q.min_events_for_jumbo
    then format('-fewevents: %s events, minEventsForJumbo is %s', t.events, q.min_events_for_jumbo)
  end
$$;

comment on function brokerage.rule_jumbo_queue(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'jumbo-queue: queues with useJumboJobs take only tasks with jumbo jobs and enough events.';
