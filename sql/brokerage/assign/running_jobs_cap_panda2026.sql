-- distribution.md, running-jobs-cap.
create or replace function brokerage.running_jobs_cap_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case
    when not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
    then greatest(t.nqueuelimitsite,
                  2 * greatest(case when q.child_type is not null then p.type_running end,
                               brokerage.running_workers_panda2026(t, q, p)))
  end
$$;

comment on function brokerage.running_jobs_cap_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'The number of jobs that may wait at a queue when jobs are distributed in panda2026; null means no limit.';
