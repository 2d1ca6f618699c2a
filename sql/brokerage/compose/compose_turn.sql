-- The weights and rules that see assignments are evaluated again for a task's survivors when its turn comes, by the
-- same functions as before; the other factors are kept. The text follows a relation u (number, task, survivor,
-- queue_number) of brokerage.answers_in_turn, and yields judged (queue, number, failed, weight, factors, queued,
-- capacity, chunk, place, best, best_rule). The assignments of earlier turns are added to the facts.
create or replace function brokerage.compose_turn(p_rules brokerage.profile_rule[], p_algorithm text) returns text
language plpgsql stable as $$
declare
  v_rule brokerage.profile_rule;
  v_factors text[] := '{}'::text[];
  v_rules text[] := '{}'::text[];
  v_distribution jsonb := '{}'::jsonb;
  v_facts text := brokerage.compose_turn_facts(p_algorithm, false);
  v_weighed text := brokerage.compose_turn_facts(p_algorithm, true);
  v_choice brokerage.profile_rule;
begin
  for v_rule in
    select r.*
      from unnest(p_rules) r
     where r.algorithm = p_algorithm and r.enabled
     order by r.position, r.rule
  loop
    if v_rule.kind = 'weight' then
      v_factors := v_factors || case when (v_rule.parameters ->> 'sees_assignments')::boolean
                                     then brokerage.rule_call(v_rule, v_facts)
                                     else format('x.factors[%s]', cardinality(v_factors) + 1) end;
    elsif v_rule.kind = 'row rule' and (v_rule.parameters ->> 'sees_assignments')::boolean then
      v_rules := v_rules || format('%L || %s', brokerage.reason_prefix(v_rule.rule, v_rule.criteria, v_rule.parameters),
                                   brokerage.rule_call(v_rule, v_weighed));
    elsif v_rule.kind = 'distribution' then
      v_distribution := v_distribution || jsonb_build_object(v_rule.rule, brokerage.rule_call(v_rule, v_weighed));
    elsif v_rule.kind = 'choice' and v_rule.function is null then
      v_choice := v_rule;
    end if;
  end loop;
  return brokerage.filled(
    $q$with judged as materialized (
         select x.*, case when x.failed is null then {place} end as place,
                case when not x.spared then {best}::bigint end as best, {best_rule}::text as best_rule
           from (select x.queue, x.number, x.weight, x.now as factors, coalesce({rejects}) as failed,
                        ({queued})::bigint as queued, ({capacity})::bigint as capacity, ({chunk})::int as chunk,
                        ({first})::float8 as first, {spared} as spared
                   from (select x.*, {weight} as weight
                           from (select x.*, array[{factors}]::float8[] as now
                                   from (select s.*, coalesce(a.assigned[s.number], 0) as assigned
                                           from (select brokerage.assigned_before(u.number) as assigned) a
                                          cross join unnest(u.survivor, u.queue_number)
                                                     s(queue, unified_name, factors, q, p, number) offset 0) x
                                 offset 0) x
                         offset 0) x
                 offset 0) x) $q$,
    jsonb_build_object(
      'place', brokerage.compose_place(v_choice, v_distribution ? 'used-sites-first', 'x.failed is null'),
      'best', quote_nullable(v_choice.parameters ->> 'best'),
      'best_rule', quote_nullable(brokerage.reason_prefix(v_choice.rule, v_choice.criteria, v_choice.parameters)),
      'rejects', array_to_string(v_rules || 'null::text'::text, ', '),
      'queued', coalesce(v_distribution ->> 'queued-jobs', 'null'),
      'capacity', coalesce(v_distribution ->> 'running-jobs-cap', 'null'),
      'chunk', coalesce(v_distribution ->> 'job-chunk', 'null'),
      'first', coalesce(v_distribution ->> 'used-sites-first', 'null'),
      'spared', brokerage.compose_spared(v_choice, 'u.task', 'x.p'),
      'weight', coalesce((select string_agg(format('x.now[%s]', n), ' * ')
                            from generate_subscripts(v_factors, 1) n), 'null::float8'),
      'factors', array_to_string(v_factors, ', ')));
end $$;

comment on function brokerage.compose_turn(brokerage.profile_rule[], text) is
  'SQL that evaluates the survivors of one task again, after other tasks of the batch got jobs assigned. Errors: '
  'PB001, PB002 (a rule that does not fit).';
