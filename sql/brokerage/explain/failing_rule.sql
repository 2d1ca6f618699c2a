-- Authors of rules need to know which rule raises an error: rules are inlined into one query, whose error names none of
-- them. The rules are tested one by one, each on the pairs that the rules before it leave, as in the query, and then on
-- all pairs, as in an explanation. The queue is found by halving. The function is called only after an error.
create or replace function brokerage.failing_rule(
  p_setup text, p_rules brokerage.profile_rule[], p_algorithm text, p_task_id bigint,
  p_queues brokerage.queue_facts[], p_error text
) returns table (rule text, place text)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_base_profile text := brokerage.base_profile(p_rules[1].profile);
  v_facts record := brokerage.compose_facts(false, p_algorithm, false, null);
  v_tasks brokerage.task_facts[];
  v_subjects brokerage.facts_by_subject;
  v_asked text[];
  v_call text;
  v_query text;
  v_rule brokerage.profile_rule;
  v_first int;
  v_last int;
  v_half int;
begin
  v_tasks := brokerage.facts_by_priority(p_setup, array[p_task_id], v_base_profile, p_algorithm);
  v_tasks := brokerage.with_job_check(p_setup, p_rules, p_algorithm, v_base_profile, v_tasks);
  v_subjects := brokerage.facts_by_subject(p_setup, p_algorithm, v_tasks, p_queues, v_base_profile);
  for v_round in 1 .. 2 loop
    for v_rule in
      select r.*
        from unnest(p_rules) r
       where r.algorithm = p_algorithm and r.enabled and r.function is not null
         and r.kind not in ('fact', 'pending')
       order by r.kind <> 'task rule', r.position, r.rule
    loop
      if v_rule.kind in ('task rule', 'second pass') then
        v_query := format('select count(%s) from unnest($2) t', brokerage.rule_call(v_rule, 't'));
      else
        v_call := brokerage.rule_call(v_rule, concat_ws(', ', v_facts.task, v_facts.queue, v_facts.pair));
        v_query := format('select count(case when coalesce(%s) is null then %s end) from %s',
                          array_to_string('null::text'::text || case when v_round = 1 then v_asked end, ', '), v_call,
                          v_facts.base);
        v_asked := v_asked || case when v_rule.kind in ('candidate', 'row rule') then v_call end;
      end if;
      continue when brokerage.error_of(v_query, v_subjects, v_tasks, p_queues) is distinct from p_error;
      v_first := 1;
      v_last := cardinality(p_queues);
      while v_first < v_last and v_rule.kind not in ('task rule', 'second pass') loop
        v_half := (v_first + v_last) / 2;
        v_subjects := brokerage.facts_by_subject(p_setup, p_algorithm, v_tasks, p_queues[v_first : v_half],
                                                 v_base_profile);
        if brokerage.error_of(v_query, v_subjects, v_tasks, p_queues[v_first : v_half]) = p_error then
          v_last := v_half;
        else
          v_first := v_half + 1;
        end if;
      end loop;
      return query
      select v_rule.rule, concat_ws(', ', format('rule %s of profile %s', v_rule.rule, v_rule.profile),
                                    case when v_rule.kind not in ('task rule', 'second pass')
                                         then 'queue ' || p_queues[v_first].queue end);
      return;
    end loop;
  end loop;
exception when data_exception or cardinality_violation or raise_exception then
  return;  -- the facts of the task cannot be made, so no rule was tested
end $$;

comment on function brokerage.failing_rule(
  text, brokerage.profile_rule[], text, bigint, brokerage.queue_facts[], text) is
  'The rule of a profile that raises an error for a task, and a description with the profile and a queue for which it '
  'raises the error (place). There is no row if no single rule raises it. p_error: the text of the error.';
