-- See analysis-load.md, failed-jobs. PanDA's code accepts equality, and applies the rule only where the stabilizer
-- applies.
create or replace function brokerage.rule_failed_jobs(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when (x ->> 'stabilized_alone')::boolean and not brokerage.may_be_stabilized(t, q, p, x) then null
    when p.failed + p.closed > greatest(2 * p.finished, t.min_bad_jobs_to_skip_pq)
         or p.failed + p.closed = greatest(2 * p.finished, t.min_bad_jobs_to_skip_pq)
            and not coalesce((x ->> 'inclusive')::boolean, false)
    then format('%s jobs of the task failed and %s were closed, %s finished: %s %s may', p.failed, p.closed, p.finished,
                case when (x ->> 'inclusive')::boolean then 'at most' else 'less than' end,
                greatest(2 * p.finished, t.min_bad_jobs_to_skip_pq))
  end
$$;

comment on function brokerage.rule_failed_jobs(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'failed-jobs: the number of jobs of the task that failed or were closed is less than twice the number that finished, '
  'or less than MIN_BAD_JOBS_TO_SKIP_PQ. Parameters (boolean): inclusive (equality is accepted), stabilized_alone (the '
  'rule applies only where the jobs of the user may be limited), spares_merging, spares_absent, spares_preassigned.';
