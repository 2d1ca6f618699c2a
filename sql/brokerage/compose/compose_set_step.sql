-- Answers of rules that look at the other queues of the task: they hold if some queue that is left passes them all,
-- else they are ignored. A reason that begins with ! always holds. p_failed are the columns with the reasons for
-- which a pair was lost before. The relation has the answers, not the pairs with them. If all failures are
-- requested, a rule that holds also has its reason for pairs that were lost before: whether it holds is decided by
-- the pairs that reach it.
create or replace function brokerage.compose_set_step(
  p_levels int[], p_said text[], p_relation text, p_failed text[], p_all_failures boolean
) returns text
language sql immutable parallel safe as $$
  with rule as (
    select l.level, l.number,
           format('case when a.task_number is not null or starts_with(x.said_%1$s, ''!'') '
                  'then %2$L || case when starts_with(x.said_%1$s, ''!'') then ltrim(x.said_%1$s, ''!'') '
                  'else x.said_%1$s end end', l.level, p_said[l.number]) as loses
      from unnest(p_levels) with ordinality l(level, number)
  ), text as (
    select string_agg(format('x.said_%s', r.level), ', ' order by r.number) as said,
           string_agg(format('case when %s then %s end as lost_%s', f.alive, r.loses, r.level),
                      ', ' order by r.number) as lost,
           case when p_all_failures
                then format('array_remove(array[%s], null)', string_agg(r.loses, ', ' order by r.number))
                else 'null::text[]' end as failures,
           f.alive
      from rule r
     cross join (select format('coalesce(%s) is null', array_to_string(p_failed, ', '))) f(alive)
     group by f.alive
  )
  select format('answer_%1$s as materialized (select x.task_number from %2$s x '
                'where %3$s and coalesce(%4$s) is null group by x.task_number), '
                'step_%1$s as not materialized (select x.*, %3$s and a.task_number is null as ignored_%1$s, %5$s, '
                '%6$s as failures_%1$s from %2$s x left join answer_%1$s a on a.task_number = x.task_number), ',
                p_levels[1], p_relation, t.alive, t.said, t.lost, t.failures)
    from text t
$$;

comment on function brokerage.compose_set_step(int[], text[], text, text[], boolean) is
  'SQL of a relation that adds lost_<level>: why set rules that stand together lose a queue beside the others of its '
  'task, ignored_<first level>: whether they are ignored for it, and failures_<first level>: why they would lose it, '
  'if that is requested.';
