-- The query of brokerage.answers_together returns one answer per task (brokerage.task_answer), without status for a
-- task that is decided once more.
create or replace function brokerage.compose_answers(
  p_rules brokerage.profile_rule[], p_algorithm text, p_wide boolean
) returns text
language sql stable as $$
  select brokerage.compose(p_rules, p_algorithm, p_wide) || format($q$,
    decided as not materialized (
      select v.task_number,
             array_agg(v.queue_number::int) filter (where v.is_lost) as lost,
             array_agg(v.failed) filter (where v.is_lost) as reasons,
             array_agg(brokerage.verdict_of(v.queue, v.failed, v.place, v.best, v.best_rule, v.weight, v.factors,
                                            v.queued, v.capacity, v.chunk)) filter (where not v.is_lost) as queues,
             count(*) filter (where v.failed is null and v.place <= coalesce(v.best, v.place)) as kept,
             count(*) filter (where v.failed not like '!%%' or v.place > v.best) as rejected,
             count(*) filter (where v.failed like '!%%') as outside
        from (select j.task_number, j.queue_number, j.queue, j.failed, j.factors is null as is_lost,
                     null::bigint as place, null::bigint as best, null as best_rule, j.weight, j.factors,
                     null::bigint as queued, null::bigint as capacity, null::int as chunk
                from judged j
               where j.failed is not null
              union all
              select r.task_number, r.queue_number, r.queue, null, false, r.place, r.best, r.best_rule, r.weight,
                     r.factors, r.queued, r.capacity, r.chunk
                from ranked r) v
       group by v.task_number
    ), again as materialized (
      select j.task_number
        from (select l.task_number, l.failed, l.marked from judged l
               where l.task_number not in (select r.task_number from ranked r)
              union all
              select distinct s.task_number, brokerage.reason_head(l.failed), brokerage.reason_head(l.marked)
                from filtered s
               cross join lateral unnest(s.reasons, s.marks) l(failed, marked)
               where s.task_number not in (select r.task_number from ranked r)) j
       group by j.task_number having %s
    )
    select t.ordinality, t.task_id,
           case when t.ordinality in (select a.task_number from again a) then null
                when d.kept > 0 then 'candidates'
                else 'pending' end,
           null::text, null::text, null::timestamptz, coalesce(d.kept, 0)::int,
           (coalesce(d.rejected, 0) + coalesce(cardinality(s.lost), 0) - coalesce(s.outside, 0))::int,
           (coalesce(d.outside, 0) + coalesce(s.outside, 0))::int,
           s.lost || d.lost, s.reasons || d.reasons, d.queues, null::bigint[], null::text, null::float8
      from unnest($2) with ordinality t
      left join filtered s on s.task_number = t.ordinality
      left join decided d on d.task_number = t.ordinality$q$,
    brokerage.compose_second_pass(p_rules, p_algorithm, 'j.task_number'))
$$;

comment on function brokerage.compose_answers(brokerage.profile_rule[], text, boolean) is
  'SQL of the answers about tasks that are decided together. Errors: PB001, PB002 (a rule that does not fit).';
