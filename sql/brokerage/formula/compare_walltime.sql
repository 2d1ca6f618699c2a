-- facts-and-formulas.md, walltime-of-a-job: the inequality is cross-multiplied (conventions.md, Exact arithmetic), so
-- that equality is found even with a corepower such as 14.54.
create or replace function brokerage.compare_walltime(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events float8, p_limit float8
) returns int
language sql stable parallel safe as $$
  select case
    when t.cpu_time_is_hs06 is not true then brokerage.compare(
      t.walltime * coalesce(t.job_input_mb, 0), p_limit * brokerage.slot_cores(t, q, p),
      t.walltime::numeric * coalesce(t.job_input_mb, 0)::numeric, p_limit::numeric * brokerage.slot_cores(t, q, p))
    when t.cpu_time * p_events = 0 then sign(coalesce(t.base_walltime, 0) - p_limit)::int
    else brokerage.compare(
      t.cpu_time * p_events * 100,
      (p_limit - coalesce(t.base_walltime, 0)) * brokerage.slot_cores(t, q, p) * coalesce(nullif(q.corepower, 0), 10)
      * coalesce(t.cpu_efficiency, 90),
      t.cpu_time::numeric * p_events::numeric * 100,
      (p_limit::numeric - coalesce(t.base_walltime, 0)::numeric) * brokerage.slot_cores(t, q, p)
      * coalesce(nullif(q.corepower, 0), 10)::numeric * coalesce(t.cpu_efficiency, 90)::numeric)
  end
$$;

comment on function brokerage.compare_walltime(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8, float8) is
  'Sign of the walltime of a job with the given number of events at the queue, minus a limit (s); null if the walltime '
  'is not known.';
