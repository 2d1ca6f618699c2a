-- See analysis-throttles.md, user-cap. The limit of queued jobs is twice that of running jobs. A cap of 0 or null is no
-- cap.
create or replace function brokerage.rule_user_cap(t brokerage.task_facts, x jsonb) returns text
language sql stable parallel safe as $$
  select case
    when (x ->> 'spares_merging')::boolean and t.is_merging then null
    when t.account_running_jobs > nullif(t.cap_jobs, 0)
    then format('%s has %s running jobs, the cap is %s', brokerage.account_of(t), t.account_running_jobs, t.cap_jobs)
    when t.account_queued_jobs > 2 * nullif(t.cap_jobs, 0)
    then format('%s has %s queued jobs, twice the cap is %s', brokerage.account_of(t),
                t.account_queued_jobs, 2 * t.cap_jobs)
    when t.account_running_cores > nullif(t.cap_cores, 0)
    then format('%s has %s running cores, the cap is %s', brokerage.account_of(t), t.account_running_cores, t.cap_cores)
    when t.account_queued_cores > 2 * nullif(t.cap_cores, 0)
    then format('%s has %s queued cores, twice the cap is %s', brokerage.account_of(t),
                t.account_queued_cores, 2 * t.cap_cores)
  end
$$;

comment on function brokerage.rule_user_cap(brokerage.task_facts, jsonb) is
  'user-cap: the running jobs and cores of the user, or of the working group, are not over the caps, and the queued '
  'jobs and cores are not over twice the caps. Parameter spares_merging (boolean).';
