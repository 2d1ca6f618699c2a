-- This is for a weight that looks at the other candidates (the new basic weight of analysis). Its function returns the
-- terms of each pair, float8[]. A second function, of the same name with _factor appended, computes the factor from the
-- terms of a pair, the sums of the first eight terms over the candidates of the task, and the parameters. Marked queues
-- are among the candidates. The terms are summed after those rules before the weights that look at other queues: pairs
-- that such rules reject do not count and have no factor. They are added in the order of the queues, so that no plan
-- changes the last digit of a sum. p_lost are the columns with the reasons for which a pair was rejected before the
-- weights.
create or replace function brokerage.compose_terms(
  p_rule brokerage.profile_rule, p_number int, p_relation text, p_lost text
) returns text[]
language plpgsql stable as $$
declare
  v_parts text[] := parse_ident(p_rule.function);
begin
  if not exists (select from pg_proc p
                   join pg_namespace n on n.oid = p.pronamespace
                   join pg_proc t on t.pronamespace = n.oid and t.proname = v_parts[2] and t.proowner = p.proowner
                  where n.nspname = v_parts[1] and p.proname = v_parts[2] || '_factor'
                    and p.prorettype = 'float8'::regtype
                    and p.proargtypes::text = concat_ws(
                      ' ', 'float8[]'::regtype::oid, 'float8[]'::regtype::oid, 'jsonb'::regtype::oid)) then
    raise exception 'weight % of profile %: there is no function %_factor beside %', p_rule.rule, p_rule.profile,
      p_rule.function, p_rule.function
      using errcode = 'PB001',
            hint = 'It has the same owner, takes terms float8[], their sums float8[] and parameters jsonb, '
                   'and returns float8.';
  end if;
  return array[
    format('sums_%1$s as materialized (select x.task_number, array[%2$s]::float8[] as sums from %3$s x '
           'where coalesce(%4$s) is null group by x.task_number), '
           'added_%1$s as not materialized (select x.*, a.sums as sums_%1$s from %3$s x '
           'left join sums_%1$s a on a.task_number = x.task_number), ',
           p_number, (select string_agg(format('sum(x.terms_%s[%s] order by x.queue_number)', p_number, n),
                                        ', ' order by n) from generate_series(1, 8) n), p_relation, p_lost),
    format('case when x.factors is not null and coalesce(%s) is null then %I.%I(x.terms_%s, x.sums_%s, %L::jsonb) end',
           p_lost, v_parts[1], v_parts[2] || '_factor', p_number, p_number,
           p_rule.parameters)];
end $$;

comment on function brokerage.compose_terms(brokerage.profile_rule, int, text, text) is
  'SQL of relations that add the sums of a weight''s terms over all candidates of a task (added_<number>), and SQL of '
  'its factor over the last relation. Errors: PB001 (no such function).';
