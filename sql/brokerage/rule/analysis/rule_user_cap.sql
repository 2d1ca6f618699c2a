create or replace function brokerage.rule_user_cap(t brokerage.task_facts, x jsonb) returns text
language sql stable parallel safe as $$
  select case when (x ->> 'spares_merging')::boolean and t.is_merging then null
              else brokerage.over_cap(t, 'throttle', x) end
$$;

comment on function brokerage.rule_user_cap(brokerage.task_facts, jsonb) is
  'user-cap: the running jobs and cores of the user, or of the working group, are not over the caps, and the queued '
  'jobs and cores are not over twice the caps. Parameter spares_merging (boolean).';
