-- See analysis-throttles.md, user-cap. The limit of queued jobs is twice that of running jobs. A cap of 0 or null is no
-- cap.
create or replace function brokerage.over_cap(t brokerage.task_facts, p_part text, x jsonb) returns text
language sql stable parallel safe as $$
  select case
    when t.account_running_jobs > coalesce((x ->> p_part)::numeric, 1) * nullif(t.cap_jobs, 0)::numeric
    then brokerage.cap_reason(t, t.account_running_jobs, 'running jobs', 'the cap', t.cap_jobs, x)
    when t.account_queued_jobs > coalesce((x ->> p_part)::numeric, 1) * 2 * nullif(t.cap_jobs, 0)::numeric
    then brokerage.cap_reason(t, t.account_queued_jobs, 'queued jobs', 'twice the cap', 2 * t.cap_jobs, x)
    when t.account_running_cores > coalesce((x ->> p_part)::numeric, 1) * nullif(t.cap_cores, 0)::numeric
    then brokerage.cap_reason(t, t.account_running_cores, 'running cores', 'the cap', t.cap_cores, x)
    when t.account_queued_cores > coalesce((x ->> p_part)::numeric, 1) * 2 * nullif(t.cap_cores, 0)::numeric
    then brokerage.cap_reason(t, t.account_queued_cores, 'queued cores', 'twice the cap', 2 * t.cap_cores, x)
  end
$$;

comment on function brokerage.over_cap(brokerage.task_facts, text, jsonb) is
  'The reason if the running jobs or cores of the account of a task are over a part of the caps, or the queued ones '
  'over that part of twice the caps; null if none is. p_part: the parameter in x that has the part; without it the '
  'part is 1.';
