-- facts-and-formulas.md, walltime-bound: values are truncated in the order of PanDA's code, since its rounding decides.
create or replace function brokerage.walltime_bound_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_limit float8
) returns float8
language sql stable parallel safe as $$
  select case
    when t.cpu_time_is_hs06
    then trunc((p_limit - coalesce(t.base_walltime, 0)) * brokerage.slot_cores(t, q, p)
               * coalesce(nullif(q.corepower, 0), 10) * coalesce(t.cpu_efficiency, 90) / 100)
    else p_limit * brokerage.slot_cores(t, q, p)
  end
$$;

comment on function brokerage.walltime_bound_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8) is
  'The work that a walltime limit of the queue (s) allows a job, in HS06 s, or in s times cores if the task is not '
  'measured in HS06.';
