create or replace function brokerage.compose_query(c brokerage.composition) returns text
language plpgsql stable as $$
declare
  v_figures constant text := 'x.queued, x.capacity, x.chunk, x.first, x.spared';
  v_pairs text := brokerage.compose_figures(c);
begin
  return brokerage.filled(
    $q$with {filtered}{done}{steps}judged as materialized (
         select x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name, coalesce({failed}) as failed,
                coalesce({marked}) as marked, {failures} as failures, {weight} as weight, {factors} as factors,
                {figures}{survivors}
           from {judged}),
       ranked as materialized (
         select x.*, {place} as place, case when not x.spared then {best}::bigint end as best,
                {best_rule}::text as best_rule
           from judged x where x.failed is null) $q$,
    jsonb_build_object(
      'filtered', c.filtered, 'done', c.done,
      'steps', case when c.steps = '' then ''
                    else brokerage.filled(
                           $q${stage} as materialized (
                                select x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name, {asked},
                                       {figures}{survivors}
                                  from {pairs}), $q$,
                           jsonb_build_object('stage', c.stage, 'asked', array_to_string(c.asked, ', '),
                                              'figures', v_figures, 'pairs', v_pairs,
                                              'survivors', case when c.survivors then ', x.survivor_q, x.survivor_p'
                                                                else '' end)) || c.steps end,
      'judged', case when c.steps = '' then v_pairs else c.relation || ' x' end,
      'failed', array_to_string(c.failed || c.marked, ', '), 'marked', array_to_string(c.marks_made, ', '),
      'failures', array_to_string(c.failures, ' || '), 'figures', v_figures,
      'survivors', case when c.survivors then ', x.survivor_q as q, x.survivor_p as p' else '' end,
      'weight', case when c.weight is null then 'null::float8'
                     when c.factors = c.plain then c.weight
                     else format('case when %s then %s else %s end', c.changed, array_to_string(c.factors, ' * '),
                                 c.weight) end,
      'factors', case when c.weight is null then 'null::float8[]'
                      when c.factors = c.plain then 'x.factors'
                      else format('case when x.factors is not null and (%s) then array[%s]::float8[] '
                                  'else x.factors end', c.changed, array_to_string(c.factors, ', ')) end,
      'place', brokerage.compose_place(c.choice, c.distribution ? 'used-sites-first', 'x.task_number'),
      'best', quote_nullable((c.choice).parameters ->> 'best'),
      'best_rule', quote_nullable(brokerage.reason_prefix((c.choice).rule, (c.choice).criteria,
                                                          (c.choice).parameters))));
end $$;

comment on function brokerage.compose_query(brokerage.composition) is
  'The text of the query after all steps of a profile.';
