-- The query of a profile, made of the steps of its rules (brokerage.plan_steps). It begins with a WITH list, and the
-- caller appends a statement over three of its relations:
--   sieved (brokerage.compose_sieve)             of each task the queues that the first level of rules loses, with the
--                                                reasons; empty if p_wide is not set, if p_all_failures is, and for
--                                                nuclei, most of which pass that level
--   judged (task_number, queue_number, task_id, queue, unified_name, failed, marked, failures, weight, factors, queued,
--   capacity, chunk)                             each other pair; failed is 'rule<tab>reason', after ! if the queue
--                                                never entered the list; marked is the reason of a temporary rule
--                                                that only marks
--   ranked (the same, place, best, best_rule)    pairs that no rule rejects, best first
-- With p_survivors judged has the facts of queues and pairs that no rule rejects (q, p).
-- Parameters of the query: $1 facts by subject, $2 task facts, $3 queue facts. Wide: facts are columns and rules are
-- planned into them, so a pair costs a few microseconds; else facts are one value each, which plans in a
-- tenth of the time and is better for less than some thousand pairs.
-- First the rules that look at a pair by itself are applied, rules in a row in one level, also those behind rules
-- that look at the other queues of the task (set rule, choice). The latter are applied afterwards, in their order,
-- over rows without facts (sorting the facts of 300,000 pairs took longer than all rules). So is a weight of terms
-- (brokerage.compose_terms): each pair has its terms, and their sums are taken when the remaining pairs are known.
-- Rules behind such a weight are applied after it, over the remaining pairs with their facts: all read the weight
-- that decides. Long because its parts share a dozen variables.
create or replace function brokerage.compose(
  p_rules brokerage.profile_rule[], p_algorithm text, p_wide boolean, p_all_failures boolean default false,
  p_survivors boolean default false
) returns text
language plpgsql stable as $$
declare
  v_facts record := brokerage.compose_facts(
    p_wide, p_algorithm, false,
    case when p_wide and p_algorithm = 'production_task' then brokerage.facts_read(p_rules, p_algorithm) end);
  v_pairs text := v_facts.base;  -- the relation that the next level selects from
  v_begins text := v_facts.begins;
  v_joined text;
  v_pair text := v_facts.pair;
  v_alone text[] := '{null::text}'::text[];  -- columns with the reasons for which a pair fails by itself
  v_failed text[] := '{null::text}'::text[];  -- the same, and those beside others, in the order of the rules
  v_marked text[] := '{}'::text[];
  v_marks_made text[] := '{null::text}'::text[];  -- the same, also behind the weights
  v_failures text[] := '{null::text[]}'::text[];
  v_asked text[] := '{}'::text[];  -- columns that the answers of set rules need
  v_beside text := '';  -- columns that the next level makes beside its own
  v_done text := '';  -- relations up to the weight, if rules stand behind a weight of terms
  v_stage text := 'asked';
  v_steps text := '';
  v_relation text := 'asked';
  v_ignored jsonb := '{}'::jsonb;  -- groups, and the column that is true where one is ignored
  v_made record;  -- columns of the weights of a step
  v_left text;  -- why a pair is lost before the weights, marks excepted
  v_unmarked text;  -- the same for a pair by itself
  v_factors text[] := '{}'::text[];  -- factors of the weight, 1 where the rules that they go with are ignored
  v_plain text[];  -- factors of pairs by themselves
  v_changed text;  -- for which pairs they differ
  v_weight text;
  v_calls text[];
  v_choice brokerage.profile_rule;  -- the choice by weight
  v_distribution jsonb := '{}'::jsonb;
  v_step record;
  v_sieves boolean := p_wide and not p_all_failures and p_algorithm <> 'production_task';
  v_sieved text := 'sieved as (select null::bigint as task_number, null::int[] as lost, null::text[] as reasons, '
                   'null::text[] as marks, null::bigint as outside where false), ';
  c_figures constant text := 'x.queued, x.capacity, x.chunk, x.first, x.spared';
begin
  for v_step in
    select s.step, s.part, min(s.level) as level, min(s.of_group) as of_group,
           array_agg(s.definition order by s.number) as rules, array_agg(s.call order by s.number) as calls,
           array_agg(s.reason_begins order by s.number) as begins, array_agg(s.level order by s.number) as levels,
           array_agg(s.is_mark order by s.number) as are_marks
      from brokerage.plan_steps(p_rules, p_algorithm) with ordinality s (
             step, part, level, rule, kind, is_mark, of_group, best, call, reason_begins, definition, number)
     group by s.step, s.part
    union all
    select null, 'end', null, null, null, null, null, null, null
     order by 1 nulls last
  loop
    perform brokerage.require_order(r, v_step.level > 0, v_weight is not null, v_choice.rule)
       from unnest(v_step.rules) r;
    if v_weight is not null and v_step.part not in ('ranking', 'end') and v_factors <> v_plain then
      v_done := format('%s as materialized (select x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name, '
                       '%s, case when coalesce(%s) is null then %s end as p from %s), %s',
                       v_stage, array_to_string(v_asked, ', '), array_to_string(v_alone, ', '), v_pair, v_pairs,
                       v_steps);
      v_asked := array(select c.name from unnest(v_failed || v_failures) c(name) where starts_with(c.name, 'x.'));
      v_pairs := replace(v_facts.again, '@pairs@',
                         format('select x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name, %s, '
                                'case when x.factors is not null then array[%s]::float8[] end as factors, '
                                'x.p from %s x',
                                array_to_string(v_asked, ', '), array_to_string(v_factors, ', '), v_relation));
      v_asked := v_asked || 'x.factors'::text;
      v_alone := v_failed;
      v_unmarked := null;
      v_factors := v_plain;
      v_stage := 'weighed';
      v_relation := 'weighed';
      v_steps := '';
    end if;
    if v_step.part = 'weights' then  -- marked queues are removed before the weights
      v_unmarked := array_to_string(v_alone, ', ');
      v_left := array_to_string(v_failed, ', ');
      v_alone := v_alone || v_marked;
      v_failed := v_failed || v_marked;
      v_marked := '{}'::text[];
    end if;
    v_joined := case when v_begins = 'x.*'
                     then replace(v_facts.joined, '@alive@',
                                  case when p_all_failures then 'true'
                                       else format('coalesce(%s) is null',
                                                   coalesce(v_unmarked, array_to_string(v_alone, ', '))) end)
                     else '' end;
    if v_weight is not null then
      v_pair := replace(v_facts.weighed_pair, '@weight@', v_weight);
    end if;
    v_calls := array(select brokerage.call_on(c.call, concat_ws(', ', v_facts.task, v_facts.queue, v_pair))
                       from unnest(v_step.calls) with ordinality c(call, number) order by c.number);
    case v_step.part
      when 'pairs' then
        v_pairs := brokerage.compose_chain(
          v_begins, v_pairs || v_joined, v_step.level, format('coalesce(%s) is null', array_to_string(v_alone, ', ')),
          v_step.rules, v_calls, v_step.begins, v_step.are_marks, p_all_failures, v_beside);
        v_begins := 'x.*';
        v_beside := '';
        if v_step.level = 0 and v_step.step = 1 and v_sieves then
          select * into v_sieved, v_pairs
            from brokerage.compose_sieve(v_pairs, v_facts.carried, v_facts.carried_as,
                                         (brokerage.second_pass(p_rules, p_algorithm)).rule is not null);
          v_begins := v_facts.begins;
          v_marked := '{x.marked_0}'::text[];
          v_marks_made := v_marked;
          v_asked := v_marked;
          continue;
        end if;
        v_alone := v_alone || format('x.failed_%s', v_step.level);
        v_failed := v_failed || format('x.failed_%s', v_step.level);
        v_marked := format('x.marked_%s', v_step.level) || v_marked;
        v_marks_made := format('x.marked_%s', v_step.level) || v_marks_made;
        v_asked := v_asked || array[format('x.failed_%s', v_step.level), format('x.marked_%s', v_step.level)];
        if p_all_failures then
          v_failures := v_failures || format('x.failures_%s', v_step.level);
          v_asked := v_asked || format('x.failures_%s', v_step.level);
        end if;
      when 'weights' then
        v_made := brokerage.compose_weights(v_step.rules, v_calls, v_ignored, v_relation, v_unmarked, v_left);
        v_steps := v_steps || v_made.steps;
        v_relation := coalesce(v_made.relation, v_relation);
        v_factors := v_made.factors;
        v_pairs := format('(select %s%s%s, case when coalesce(%s) is null then array[%s]::float8[] end as factors '
                          'from %s%s offset 0) x', v_begins, v_beside, v_made.beside, array_to_string(v_alone, ', '),
                          array_to_string(v_made.weights, ', '), v_pairs, v_joined);
        v_begins := 'x.*';
        v_beside := '';
        v_plain := array(select format('x.factors[%s]', n) from generate_subscripts(v_made.weights, 1) n order by n);
        v_weight := array_to_string(v_plain, ' * ');
        v_changed := case when v_made.steps = ''
                          then (select string_agg(c.value, ' or ') from jsonb_each_text(v_ignored) c)
                          else 'true' end;
        v_asked := v_asked || v_made.asked || 'x.factors'::text;
      when 'set rules' then
        v_beside := v_beside || (
          select string_agg(format(case when p_all_failures
                                        then $q$, case when not starts_with(coalesce(%s, ''), '!')
                                                    then %s end as said_%s$q$
                                        else ', case when coalesce(%s) is null then %s end as said_%s' end,
                                   array_to_string(v_alone, ', '), v_calls[n], l), '' order by n)
            from unnest(v_step.levels) with ordinality s(l, n));
        v_asked := v_asked || array(select format('x.said_%s', l)
                                      from unnest(v_step.levels) with ordinality s(l, n) order by n);
        v_steps := v_steps || brokerage.compose_set_step(v_step.levels, v_step.begins, v_relation, v_failed,
                                                         p_all_failures);
        v_relation := format('step_%s', v_step.level);
        v_failed := v_failed || array(select format('x.lost_%s', l)
                                        from unnest(v_step.levels) with ordinality s(l, n) order by n);
        if p_all_failures then
          v_failures := v_failures || format('x.failures_%s', v_step.level);
        end if;
        v_ignored := v_ignored || jsonb_build_object(v_step.of_group, format('x.ignored_%s', v_step.level));
      when 'choice' then
        v_beside := v_beside || format(', case when coalesce(%s) is null then %s end as said_%s',
                                       array_to_string(v_alone, ', '), v_calls[1], v_step.level);
        v_asked := v_asked || format('x.said_%s', v_step.level);
        v_steps := v_steps || brokerage.compose_choice_step(v_step.level, v_step.begins[1], v_relation, v_failed,
                                                            ((v_step.rules[1]).parameters ->> 'best')::bigint);
        v_relation := format('step_%s', v_step.level);
        v_failed := v_failed || format('x.lost_%s', v_step.level);
      when 'distribution' then
        v_distribution := v_distribution || (
          select jsonb_object_agg(r.rule, format('case when coalesce(%s) is null then %s end',
                                                 array_to_string(v_alone, ', '), v_calls[r.ordinality]))
            from unnest(v_step.rules) with ordinality r);
      when 'ranking' then
        v_choice := v_step.rules[1];
      else
        null;
    end case;
  end loop;
  v_pairs := format('(select %s%s, (%s)::bigint as queued, (%s)::bigint as capacity, (%s)::int as chunk, '
                    '(%s)::float8 as first, %s as spared%s from %s%s) x', v_begins, v_beside,
                    coalesce(v_distribution ->> 'queued-jobs', 'null'),
                    coalesce(v_distribution ->> 'running-jobs-cap', 'null'),
                    coalesce(v_distribution ->> 'job-chunk', 'null'),
                    coalesce(v_distribution ->> 'used-sites-first', 'null'),
                    brokerage.compose_spared(v_choice, v_facts.task, v_pair),
                    case when p_survivors then format(', case when coalesce(%1$s) is null then %2$s end as survivor_q, '
                                                      'case when coalesce(%1$s) is null then %3$s end as survivor_p',
                                                      array_to_string(v_alone, ', '), v_facts.queue, v_facts.pair)
                         else '' end,
                    v_pairs,
                    -- else facts are not read
                    case when v_distribution <> '{}' or p_survivors or v_choice.parameters ? 'spares_distributed'
                         then v_joined end);
  return format('with %s%s%s judged as materialized (select x.task_number, x.queue_number, x.task_id, x.queue, '
                'x.unified_name, coalesce(%s) as failed, coalesce(%s) as marked, %s as failures, %s as weight, '
                '%s as factors, %s%s from %s), '
                'ranked as materialized (select x.*, %s as place, case when not x.spared then %L::bigint end as best, '
                '%L::text as best_rule from judged x where x.failed is null) ',
                v_sieved, v_done,
                case when v_steps = '' then ''
                     else format('%s as materialized (select x.task_number, x.queue_number, x.task_id, x.queue, '
                                 'x.unified_name, %s, %s%s from %s), ', v_stage,
                                 array_to_string(v_asked, ', '), c_figures,
                                 case when p_survivors then ', x.survivor_q, x.survivor_p' else '' end, v_pairs)
                          || v_steps end,
                array_to_string(v_failed || v_marked, ', '), array_to_string(v_marks_made, ', '),
                array_to_string(v_failures, ' || '),
                case when v_weight is null then 'null::float8'
                     when v_factors = v_plain then v_weight
                     else format('case when %s then %s else %s end', v_changed, array_to_string(v_factors, ' * '),
                                 v_weight) end,
                case when v_weight is null then 'null::float8[]'
                     when v_factors = v_plain then 'x.factors'
                     else format('case when x.factors is not null and (%s) then array[%s]::float8[] else x.factors end',
                                 v_changed, array_to_string(v_factors, ', ')) end,
                c_figures, case when p_survivors then ', x.survivor_q as q, x.survivor_p as p' else '' end,
                case when v_steps = '' then v_pairs else v_relation || ' x' end,
                brokerage.compose_place(v_choice, v_distribution ? 'used-sites-first', 'x.task_number'),
                v_choice.parameters ->> 'best',
                brokerage.reason_prefix(v_choice.rule, v_choice.criteria, v_choice.parameters));
end $$;

comment on function brokerage.compose(brokerage.profile_rule[], text, boolean, boolean, boolean) is
  'SQL of a profile: the relations sieved, judged and ranked over all pairs of tasks and queues, made of the rules in '
  'force. '
  'Errors: PB001 (no such profile, a rule that does not fit), PB002 (a rule whose owner is not trusted).';
