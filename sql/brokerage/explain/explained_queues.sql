-- The query that decides returns one row per queue, with all reasons, for a task in its pass.
create or replace function brokerage.explained_queues(
  p_rules brokerage.profile_rule[], p_algorithm text, p_subjects brokerage.facts_by_subject,
  p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns table (queue text, verdict text, rank bigint, rule text, criteria text, reason text, weight float8,
                 factors jsonb, all_reasons text[])
language plpgsql stable as $$
begin
  return query execute
    brokerage.compose(p_rules, p_algorithm, false, true)
    || $q$ select j.queue, case when starts_with(j.failed, '!') then 'not candidate'
                             when j.failed is not null or r.place > r.best then 'rejected'
                             else 'candidate' end,
              case when r.place <= coalesce(r.best, r.place) then r.place end, s.rule, w.criteria, w.reason, j.weight,
              (select jsonb_object_agg(n.rule, n.factor)
                 from (select f.rule, j.factors[row_number() over (order by f.position, f.rule)] as factor
                         from unnest($4) f
                        where f.algorithm = $5 and f.kind = 'weight' and f.enabled) n
                where j.factors is not null),
              (select array_agg(replace(a.said, E'\t', ': '))
                 from unnest(j.failures) a(said)
                where starts_with(j.failed, '!') is not true)
         from judged j
         left join ranked r on r.task_number = j.task_number and r.queue = j.queue
        cross join lateral (
          select coalesce(ltrim(j.failed, '!'),
                          case when r.place > r.best
                               then r.best_rule
                                    || format('number %s by weight, the best %s are taken', r.place, r.best)
                          end)) v(said)
        cross join lateral (select split_part(v.said, E'\t', 1), split_part(v.said, E'\t', 2)) s(rule, said)
        cross join lateral brokerage.split_reason(s.said) w
        order by r.place nulls last, coalesce(starts_with(j.failed, '!'), false), j.queue collate "C"$q$
    using p_subjects, p_tasks, p_queues, p_rules, p_algorithm;
end $$;

comment on function brokerage.explained_queues(
  brokerage.profile_rule[], text, brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'Rows of brokerage.explain about the queues, for one task in the given pass. Errors: PB001, PB002 (a rule that does '
  'not fit).';
