-- facts-and-formulas.md, walltime-of-a-job: cpuTime * nEvents * 100 / (cores * corepower * efficiency) +
-- baseWalltime, or walltime * input MB / cores.
create or replace function brokerage.walltime_of(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events float8
) returns float8
language sql stable parallel safe as $$
  select case
    when t.cpu_time_is_hs06 is not true then t.walltime * coalesce(t.job_input_mb, 0) / brokerage.slot_cores(t, q, p)
    when t.cpu_time * p_events = 0 then coalesce(t.base_walltime, 0)
    when t.cpu_efficiency <= 0 then 'infinity'
    else coalesce(t.base_walltime, 0)
         + t.cpu_time * p_events * 100
         / (brokerage.slot_cores(t, q, p) * coalesce(nullif(q.corepower, 0), 10) * coalesce(t.cpu_efficiency, 90))
  end
$$;

comment on function brokerage.walltime_of(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8) is
  'Walltime of a job with the given number of events at the queue (s); null if not known. The value is only shown; '
  'rules decide by brokerage.compare_walltime.';
