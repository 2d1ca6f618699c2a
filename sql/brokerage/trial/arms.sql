create or replace function brokerage.arms(
  p_run brokerage.run, p_rules brokerage.profile_rule[], p_tasks brokerage.task_facts[]
) returns setof brokerage.arm
language sql stable as $$
  select t.arm, array_agg(t.ordinality order by t.ordinality), brokerage.rules_of_arm(p_rules, p_run.profile, t.arm)
    from unnest(p_tasks) with ordinality t
   group by t.arm
   order by t.arm
$$;

comment on function brokerage.arms(brokerage.run, brokerage.profile_rule[], brokerage.task_facts[]) is
  'The arms to which the given tasks belong, with the places of their tasks and the rules that decide about them.';
