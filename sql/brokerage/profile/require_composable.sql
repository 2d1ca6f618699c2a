-- Every profile that has the rules of this profile is composed and planned, so that a rule that does not fit is found
-- when it is set, not in a run.
create or replace function brokerage.require_composable(p_profile text, p_algorithm text) returns void
language plpgsql as $$
declare
  v_profile text;
  v_rules brokerage.profile_rule[];
  v_rule brokerage.profile_rule;
begin
  for v_rule in
    select r.*
      from brokerage.profile_line l
      join brokerage.rule_in_force r on r.profile = l.profile
     -- a disabled row for a removed rule has no effect
     where l.of_profile = p_profile and r.algorithm = p_algorithm and (r.enabled or r.kind is not null)
  loop
    if v_rule.kind is null or v_rule.position is null then
      raise exception 'rule % of profile % has no %', v_rule.rule, v_rule.profile,
        case when v_rule.kind is null then 'kind' else 'position' end
        using errcode = 'PB001', hint = 'A rule of your own needs kind, position and function.';
    end if;
    perform brokerage.require_parameters(v_rule);
  end loop;
  for v_profile in select l.profile from brokerage.profile_line l where l.of_profile = p_profile loop
    v_rules := brokerage.rules_of(v_profile);
    perform brokerage.compose_task_rules(v_rules, p_algorithm);
    execute 'explain ' || brokerage.compose(v_rules, p_algorithm, false)
            || format(' select %s from judged j left join ranked using (task_number) group by task_number',
                      brokerage.compose_second_pass(v_rules, p_algorithm, 'task_number'))
      using null::brokerage.facts_by_subject, '{}'::brokerage.task_facts[], '{}'::brokerage.queue_facts[];
  end loop;
end $$;

comment on function brokerage.require_composable(text, text) is
  'Refuses a profile that cannot be composed into a query. Errors: PB001, PB002.';
