-- facts-and-formulas.md, walltime-bound: cpuTime * events in HS06 s, or walltime * input MB. For the event service the
-- work is divided, except for jobs with a dynamic number of events.
create or replace function brokerage.walltime_work_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events float8
) returns float8
language sql stable parallel safe as $$
  select case when not t.cpu_time_is_hs06 then t.walltime * coalesce(t.job_input_mb, 0) / t.event_service_parts
              when t.dynamic_num_events > 0 and q.mintime > 0 then t.cpu_time * p_events
              else t.cpu_time * p_events / t.event_service_parts end
$$;

comment on function brokerage.walltime_work_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8) is
  'The work of a job with the given number of events, in the unit of brokerage.walltime_bound_panda2026; null if not '
  'known.';
