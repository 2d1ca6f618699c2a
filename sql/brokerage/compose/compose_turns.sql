-- The query of brokerage.answers_in_turn: all turns are rows of one query, planned once (planning each turn by itself
-- took half of the time). The first row computes, for all tasks, the facts that no assignment changes. Each further row
-- weighs the candidates of one task (brokerage.compose_turn), and is fetched only when the jobs of the previous task
-- are assigned.
create or replace function brokerage.compose_turns(
  p_rules brokerage.profile_rule[], p_algorithm text, p_wide boolean
) returns text
language plpgsql stable as $$
declare
  -- reasons of rejected pairs, for the second pass
  v_texts text := case when (brokerage.second_pass(p_rules, p_algorithm)).rule is not null
                       then 'array_agg(j.failed) filter (where j.failed is not null) as failed, '
                            'array_agg(j.marked) filter (where j.failed is not null) as marked'
                       else 'null::text[] as failed, null::text[] as marked' end;
begin
  return brokerage.compose(p_rules, p_algorithm, p_wide, false, true) || format($q$,
    queue as materialized (
      select q.queue, dense_rank() over (order by q.unified_name) as number from unnest($3) q
    ), pair as not materialized (
      select n.number,
             count(*) filter (where j.failed like '!%%') as outside,
             count(*) filter (where j.failed not like '!%%') as rejected,
             array_agg(j.queue_number::int) filter (where j.failed is not null and j.factors is null) as lost,
             array_agg(j.failed) filter (where j.failed is not null and j.factors is null) as reasons,
             array_agg(brokerage.verdict_of(j.queue, j.failed, null, null, null, j.weight, j.factors, null, null, null))
               filter (where j.failed is not null and j.factors is not null) as refused,
             %1$s,
             count(*) filter (where j.queue is not null and j.failed is null) as survivors,
             array_agg(row(j.queue, j.unified_name, j.factors, j.q, j.p)::brokerage.survivor)
               filter (where j.queue is not null and j.failed is null) as survivor,
             array_agg(q.number) filter (where j.queue is not null and j.failed is null) as queue_number
        from generate_subscripts($2, 1) n(number)
        left join judged j on j.task_number = n.number
        left join queue q on q.queue = j.queue
       group by n.number
    )
    select u.outside, u.rejected, u.survivors, u.lost, u.reasons, u.refused || r.said as verdicts, u.again, r.kept,
           r.names, r.numbers, r.weights, r.queued, r.capacities, r.chunks
      from (select d.number, $2[d.number] as task, d.survivors, d.refused, d.survivor, d.queue_number,
                   d.outside + coalesce(s.outside, 0) as outside,
                   d.rejected + coalesce(cardinality(s.lost), 0) - coalesce(s.outside, 0) as rejected,
                   s.lost || d.lost as lost, s.reasons || d.reasons as reasons,
                   d.survivors = 0
                   and exists (select
                                 from (select distinct brokerage.reason_head(l.failed) as failed,
                                              brokerage.reason_head(l.marked) as marked
                                         from unnest(s.reasons || d.failed, s.marks || d.marked) l(failed, marked)) j
                               having %2$s) as again
              from pair d
              left join filtered s on s.task_number = d.number
             order by d.number offset 0) u
     cross join lateral (%3$s
       select array_agg(brokerage.verdict_of(r.queue, r.failed, r.place, r.best, r.best_rule, r.weight, r.factors,
                                             r.queued, r.capacity, r.chunk)) as said,
              count(*) filter (where r.is_kept) as kept,
              array_agg(r.queue) filter (where r.is_kept) as names,
              array_agg(r.number) filter (where r.is_kept) as numbers,
              array_agg(r.weight) filter (where r.is_kept) as weights,
              array_agg(r.queued) filter (where r.is_kept) as queued,
              array_agg(r.capacity) filter (where r.is_kept) as capacities,
              array_agg(coalesce(r.chunk, 25)) filter (where r.is_kept) as chunks
         from (select j.*, j.place <= coalesce(j.best, j.place) as is_kept
                 from judged j
                order by j.place offset 0) r) r$q$,
    v_texts, brokerage.compose_second_pass(p_rules, p_algorithm, 'd.number'),
    brokerage.compose_turn(p_rules, p_algorithm));
end $$;

comment on function brokerage.compose_turns(brokerage.profile_rule[], text, boolean) is
  'SQL of the turns of a batch, one row per task in the order of the facts: counts of queues, rejected queues with '
  'reasons, verdicts, whether the task is decided once more, and the kept candidates, best first. Errors: PB001, PB002 '
  '(a rule that does not fit).';
