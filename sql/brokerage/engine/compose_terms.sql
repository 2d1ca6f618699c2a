-- A weight that looks at the other candidates (the new basic weight of analysis): its function gives the terms of each pair, float8[]; another one, named
-- like it with _factor behind, makes the factor of the terms of a pair, the sums of the first eight over the candidates of the task, and the parameters.
-- Marked queues are among the candidates. Taken behind the rules that look at other queues and stand before the weights, so that nothing counts that those
-- have lost, and what those have lost has no factor. Added up by the order of the queues, so that no plan changes the last digit of a sum. p_lost are the columns that say why a pair was lost before the weights.
create or replace function brokerage.compose_terms(p_rule brokerage.profile_rule, p_number int, p_lost text) returns text
language plpgsql stable
as $$
declare
  v_parts text[] := parse_ident(p_rule.function);
begin
  if not exists (select from pg_proc p
                   join pg_namespace n on n.oid = p.pronamespace
                   join pg_proc t on t.pronamespace = n.oid and t.proname = v_parts[2] and t.proowner = p.proowner
                  where n.nspname = v_parts[1] and p.proname = v_parts[2] || '_factor' and p.prorettype = 'float8'::regtype
                    and p.proargtypes::text = concat_ws(' ', 'float8[]'::regtype::oid, 'float8[]'::regtype::oid, 'jsonb'::regtype::oid)) then
    raise exception 'weight % of profile %: there is no function %_factor beside %', p_rule.rule, p_rule.profile, p_rule.function, p_rule.function
      using errcode = 'PB001', hint = 'It has the same owner, takes terms float8[], their sums float8[] and parameters jsonb, and returns float8.';
  end if;
  return format('case when x.factors is not null and coalesce(%s) is null then %I.%I(x.terms_%s, array[%s], %L::jsonb) end', p_lost, v_parts[1], v_parts[2] || '_factor', p_number,
                (select string_agg(format('sum(case when coalesce(%s) is null then x.terms_%s[%s] end) over (partition by x.task_number order by x.queue_number rows between unbounded preceding and unbounded following)', p_lost, p_number, n), ', ' order by n)
                   from generate_series(1, 8) n),
                p_rule.parameters);
end $$;

comment on function brokerage.compose_terms(brokerage.profile_rule, int, text) is
'SQL of the factor of a weight that looks at the terms of all candidates of a task. Errors: PB001 (a function that is not there).';
