-- See analysis-throttles.md, user-throttle and user-release. Between the two bounds a task goes on as before: it makes
-- jobs if it made some, and waits if it waited. With the parameter hours the lower bound counts, for tasks that wait.
create or replace function brokerage.rule_user_throttle(t brokerage.task_facts, x jsonb) returns text
language sql stable parallel safe as $$
  select case
    when t.is_merging or t.is_scout then null
    when not x ? 'hours' then brokerage.over_cap(t, 'throttle', x)
    when extract(epoch from t.now - t.throttled_at) <= (x ->> 'hours')::numeric * 3600
    then format('throttled at %s, for %s h at most: ',
                to_char(t.throttled_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"'), x ->> 'hours')
         || brokerage.over_cap(t, 'release', x)
  end
$$;

comment on function brokerage.rule_user_throttle(brokerage.task_facts, jsonb) is
  'user-throttle: the jobs and cores of the user, or of the working group, are not over the part throttle of the caps. '
  'user-release: a task that was throttled in the last hours waits until none is over the part release. Parameters '
  'throttle and release (parts of the caps), and hours for user-release.';
