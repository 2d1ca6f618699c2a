-- The key has all that the composed queries take from the catalogue, and asks for it by the same functions, so that a
-- function that is no longer trusted is refused here as it is when the query is composed.
create or replace function brokerage.query_key(p_rules brokerage.profile_rule[], p_algorithm text) returns text
language sql stable as $$
  select encode(sha256(convert_to(concat_ws(E'\n', r.rules, r.terms, s.steps,
                                            brokerage.compose_second_pass(p_rules, p_algorithm, 'n')), 'UTF8')), 'hex')
    from (select array_agg(r order by r.position, r.rule)::text as rules,
                 array_agg(brokerage.compose_terms(r, 1, 'x', 'x') order by r.position, r.rule)
                   filter (where r.kind = 'weight' and r.enabled and brokerage.weighs_terms(r))::text as terms
            from unnest(p_rules) r where r.algorithm = p_algorithm) r
   cross join (select array_agg(s order by s.step, s.rule)::text as steps
                 from brokerage.plan_steps(p_rules, p_algorithm) s) s
$$;

comment on function brokerage.query_key(brokerage.profile_rule[], text) is
  'A digest of the rules for an algorithm and of the calls of their functions. Rules with the same key make the same '
  'queries. Errors: PB001 (no such profile, a rule that does not fit), PB002 (a rule whose owner is not trusted).';
