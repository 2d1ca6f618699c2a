-- anal-loops: the rule of kind second pass returns 'persistent' (a second pass if persistent filters reject every
-- queue) or 'any' (also if all remaining queues have problems that may pass by themselves). A temporary and a
-- persistent rule may have the same name (parameter as); the tags of their reasons differ.
create or replace function brokerage.compose_second_pass(
  p_rules brokerage.profile_rule[], p_algorithm text, p_number text
) returns text
language plpgsql stable as $$
declare
  v_rule brokerage.profile_rule;
  v_survives text;
begin
  select r.* into v_rule from unnest(p_rules) r
   where r.algorithm = p_algorithm and r.enabled and r.kind = 'second pass'
   order by r.position, r.rule
   limit 1;
  if v_rule.rule is null then
    return 'false';
  end if;
  select format('brokerage.survives_chain(j.failed, j.marked, %L::text[], %L::text[])',
                coalesce(array_agg(b.reason) filter (where r.position > v_rule.position), '{}'),
                coalesce(array_agg(b.reason) filter (where r.position < v_rule.position and r.temporary), '{}'))
    into v_survives
    from unnest(p_rules) r
   cross join lateral (
     select brokerage.reason_prefix(r.rule, r.criteria, r.parameters)) b(reason)
   where r.algorithm = p_algorithm and r.enabled;
  return format('coalesce(bool_or(not j.failed ^@ ''!'') and bool_or(%1$s) is not true '
                'and ($2[%2$s]).second_pass is not true '
                'and case %3$s when ''any'' then true when ''persistent'' then bool_and(%1$s is null) end, false)',
                v_survives, p_number, brokerage.rule_call(v_rule, format('$2[%s]', p_number)));
end $$;

comment on function brokerage.compose_second_pass(brokerage.profile_rule[], text, text) is
  'SQL of the rule of kind second pass, which tests whether a task (given by the expression of its number) is decided '
  'once more. The expression aggregates the task''s rows j of the relation judged; $2 are task facts. Errors: PB001, '
  'PB002 (a rule that does not fit).';
