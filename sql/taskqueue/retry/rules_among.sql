-- RETRIES.md. The planner inlines it: without other rules, the index gives the rules of the table one by one
-- until one decides, and the second part costs nothing.
create or replace function taskqueue.rules_among(p_setup text, p_rules taskqueue.retry_rule[])
returns table (rule taskqueue.retry_rule, "position" int)
language sql stable rows 10 as $$
  (select r, r.position from taskqueue.retry_rule r where r.setup = p_setup and p_rules is null order by r.position)
  union all
  (select r, r.position from unnest(p_rules) r where p_rules is not null order by r.position)
$$;

comment on function taskqueue.rules_among(text, taskqueue.retry_rule[]) is
  'Retry rules by position: the given rules, or the rules of the setup if null is given.';
