-- A queue that no rule rejects is a candidate, unless the choice by weight keeps better ones. Rule and reason are one
-- text, 'rule<tab>reason', as in the composed query.
create or replace function brokerage.verdict_of(
  p_queue text, p_failed text, p_place bigint, p_best bigint, p_best_rule text, p_weight float8, p_factors float8[],
  p_queued bigint, p_capacity bigint, p_chunk int
) returns brokerage.queue_verdict
language sql stable parallel safe as $$
  select row(p_queue, case when p_failed is not null or p_place > p_best then 'r' else 'c' end,
             case when p_place <= coalesce(p_best, p_place) then p_place end,
             p_weight, p_factors, p_queued, p_capacity, p_chunk,
             split_part(coalesce(p_failed, case when p_place > p_best then p_best_rule end), E'\t', 1),
             case when p_failed is not null then split_part(p_failed, E'\t', 2)
                  when p_place > p_best
                  then format('%snumber %s by weight, the best %s are taken', split_part(p_best_rule, E'\t', 2),
                              p_place, p_best) end)::brokerage.queue_verdict
$$;

comment on function brokerage.verdict_of(
  text, text, bigint, bigint, text, float8, float8[], bigint, bigint, int) is
  'The verdict about a queue that has a weight. p_failed is the reason of a rule that rejects it, p_place its place by '
  'weight, and p_best the number of queues that the choice p_best_rule keeps (null means all).';
