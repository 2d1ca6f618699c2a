-- production-filters.md, walltime: nEvents, or the events of the smallest job that the dynamic number of events can
-- make.
create or replace function brokerage.walltime_events(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select coalesce(case when q.mintime > 0 then t.dynamic_num_events end, t.job_events, 0)::float8
$$;

comment on function brokerage.walltime_events(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Events of the job that must not be too long for the queue.';
