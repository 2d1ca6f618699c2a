-- The query of a profile is made from the steps of its rules (brokerage.plan_steps): each step in turn changes a
-- composition. The query begins with a WITH list, and the caller appends a statement over three of its relations:
--   filtered (brokerage.compose_first_filter)    for each task, the queues that the first level of rules rejects, with
--                                                the reasons; empty without p_wide, with p_all_failures, and for
--                                                nuclei, most of which pass that level
--   judged (task_number, queue_number, task_id, queue, unified_name, failed, marked, failures, weight, factors, queued,
--   capacity, chunk)                             each other pair; failed is 'rule<tab>reason', after ! if the queue
--                                                never entered the list; marked is the reason of a temporary rule
--                                                that only marks
--   ranked (the same, place, best, best_rule)    pairs that no rule rejects, best first
-- With p_survivors judged also has the facts (q, p) of the pairs that no rule rejects.
-- Parameters of the query: $1 facts by subject, $2 task facts, $3 queue facts. In the wide form, facts are columns and
-- rules are planned into them, so a pair costs a few microseconds. In the other form, facts are one value each; it is
-- planned in a tenth of the time and is better for fewer than some thousand pairs.
-- Rules that look at a pair by itself are applied first, consecutive rules in one level, even if they come behind rules
-- that look at the other queues of the task (set rule, choice). The latter are applied afterwards, in their order,
-- over rows without facts (sorting the facts of 300,000 pairs took longer than all rules).
create or replace function brokerage.compose(
  p_rules brokerage.profile_rule[], p_algorithm text, p_wide boolean, p_all_failures boolean default false,
  p_survivors boolean default false
) returns text
language plpgsql stable as $$
declare
  c brokerage.composition := brokerage.compose_begin(p_rules, p_algorithm, p_wide, p_all_failures, p_survivors);
  v_step brokerage.plan_step[];
begin
  for v_step in
    select array_agg(s order by (s.definition).position, s.rule)
      from brokerage.plan_steps(p_rules, p_algorithm) s
     group by s.step
     order by s.step
  loop
    perform brokerage.require_order(r.definition, r.level > 0, c.weight is not null, (c.choice).rule)
       from unnest(v_step) r;
    c := brokerage.compose_after_weights(c, v_step[1].part);
    for i in 1 .. cardinality(v_step) loop
      v_step[i].call := brokerage.call_on(v_step[i].call,
                                          concat_ws(', ', (c.facts).task, (c.facts).queue, c.pair));
    end loop;
    case v_step[1].part
      when 'pairs' then c := brokerage.compose_pairs(c, v_step);
      when 'weights' then c := brokerage.compose_weights(c, v_step);
      when 'set rules' then c := brokerage.compose_set_rules(c, v_step);
      when 'choice' then c := brokerage.compose_choice(c, v_step[1]);
      when 'distribution' then c := brokerage.compose_distribution(c, v_step);
      when 'ranking' then c.choice := v_step[1].definition;
    end case;
  end loop;
  return brokerage.compose_query(brokerage.compose_after_weights(c, 'ranking'));
end $$;

comment on function brokerage.compose(brokerage.profile_rule[], text, boolean, boolean, boolean) is
  'SQL of a profile: the relations filtered, judged and ranked over all pairs of tasks and queues, made from the rules '
  'in force. Errors: PB001 (no such profile, a rule that does not fit), PB002 (a rule whose owner is not trusted).';
