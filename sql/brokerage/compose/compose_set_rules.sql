-- Set rules look at the other queues of the task: they hold if some remaining queue passes them all; otherwise they are
-- ignored. A reason that begins with ! always holds. The relation has only the results, without the pairs. If all
-- failures are requested, a rule that holds also gives its reason for pairs that were rejected before; only the pairs
-- that reach the rule decide whether it holds.
create or replace function brokerage.compose_set_rules(c brokerage.composition, p_step brokerage.plan_step[])
returns brokerage.composition
language plpgsql stable as $$
declare
  v_level int := p_step[1].level;
  v_alive text := brokerage.compose_alive(c.failed);
  v_of_pair text := case when c.all_failures
                         then format($q$not starts_with(coalesce(%s, ''), '!')$q$, array_to_string(c.alone, ', '))
                         else brokerage.compose_alive(c.alone) end;
  v_rule brokerage.plan_step;
  v_loses text;
  v_loses_all text[] := '{}'::text[];
  v_said text[] := '{}'::text[];
  v_lost text[] := '{}'::text[];
begin
  foreach v_rule in array p_step loop
    v_loses := format($q$case when a.task_number is not null or starts_with(x.said_%1$s, '!')
                              then %2$L || case when starts_with(x.said_%1$s, '!') then ltrim(x.said_%1$s, '!')
                                                else x.said_%1$s end end$q$, v_rule.level, v_rule.reason_begins);
    v_loses_all := v_loses_all || v_loses;
    v_said := v_said || format('x.said_%s', v_rule.level);
    v_lost := v_lost || format('case when %s then %s end as lost_%s', v_alive, v_loses, v_rule.level);
    c.beside := c.beside || format(', case when %s then %s end as said_%s', v_of_pair, v_rule.call, v_rule.level);
    c.failed := c.failed || format('x.lost_%s', v_rule.level);
  end loop;
  c.asked := c.asked || v_said;
  c.steps := c.steps || brokerage.filled(
    $q$answer_{level} as materialized (
         select x.task_number from {relation} x where {alive} and {passes} group by x.task_number),
       step_{level} as not materialized (
         select x.*, {alive} and a.task_number is null as ignored_{level}, {lost}, {failures} as failures_{level}
           from {relation} x left join answer_{level} a on a.task_number = x.task_number), $q$,
    jsonb_build_object('level', v_level, 'relation', c.relation, 'alive', v_alive,
                       'passes', brokerage.compose_alive(v_said), 'lost', array_to_string(v_lost, ', '),
                       'failures', case when c.all_failures
                                        then format('array_remove(array[%s], null)', array_to_string(v_loses_all, ', '))
                                        else 'null::text[]' end));
  c.relation := format('step_%s', v_level);
  c.failures := c.failures || case when c.all_failures then array[format('x.failures_%s', v_level)] end;
  c.ignored := c.ignored || jsonb_build_object(p_step[1].of_group, format('x.ignored_%s', v_level));
  return c;
end $$;

comment on function brokerage.compose_set_rules(brokerage.composition, brokerage.plan_step[]) is
  'A query with one more relation: lost_<level> (the reason why set rules of one group reject a queue in comparison '
  'with the others of its task), ignored_<first level> (whether these rules are ignored for the task), and, on '
  'request, failures_<first level> (the reasons why they would reject the queue).';
