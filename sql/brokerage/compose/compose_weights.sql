-- The weights of a step. A weight that looks at the terms of the other candidates has a relation with their sums
-- (brokerage.compose_terms), and 1 among the factors of pairs by themselves.
create or replace function brokerage.compose_weights(
  p_rules brokerage.profile_rule[], p_calls text[], p_ignored jsonb, p_relation text, p_unmarked text, p_left text,
  out weights text[], out factors text[], out beside text, out asked text[], out steps text, out relation text
)
language plpgsql stable as $$
declare
  v_terms int := 0;
  v_summed text[];
begin
  weights := '{}'::text[];
  factors := '{}'::text[];
  beside := '';
  asked := '{}'::text[];
  steps := '';
  relation := p_relation;
  for n in 1 .. cardinality(p_rules) loop
    if brokerage.weighs_terms(p_rules[n]) then
      v_terms := v_terms + 1;
      v_summed := brokerage.compose_terms(p_rules[n], v_terms, relation, p_left);
      beside := beside || format(', case when coalesce(%s) is null then %s end as terms_%s', p_unmarked, p_calls[n],
                                 v_terms);
      asked := asked || format('x.terms_%s', v_terms);
      steps := steps || v_summed[1];
      relation := format('added_%s', v_terms);
      weights := weights || '1::float8'::text;
      factors := factors || v_summed[2];
    else
      weights := weights || p_calls[n];
      factors := factors || brokerage.compose_factor(p_rules[n], n, p_ignored);
    end if;
  end loop;
end $$;

comment on function brokerage.compose_weights(brokerage.profile_rule[], text[], jsonb, text, text, text) is
  'SQL of the weights of a profile. weights: of a pair by itself; factors: behind the rules that look at other queues; '
  'beside, asked: columns of terms; steps, relation: relations with their sums, and the last of them. p_unmarked, '
  'p_left: columns with the reasons for which a pair was lost by itself, and in all. Errors: PB001 (a rule that does '
  'not fit).';
