-- production-filters.md, walltime: with a dynamic number of events the lower bound rejects only if the events of the
-- smallest job and all events of the primary dataset are both too few.
create or replace function brokerage.most_events(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select coalesce(case when t.dynamic_num_events is null then t.job_events
                       else greatest(t.dynamic_num_events, t.events) end, 0)::float8
$$;

comment on function brokerage.most_events(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Events of the job that must not be too short for a queue with mintime.';
