-- Answers of rules that look at the other queues of the task: each holds where some queue that is left passes them all, else they are ignored. A reason with !
-- before it holds all the same. p_failed are the columns that say why a pair was lost before. Kept are the answers, not the pairs with them.
create or replace function brokerage.compose_set_step(p_levels int[], p_said text[], p_relation text, p_failed text[]) returns text
language sql immutable parallel safe
as $$
  select format('answer_%1$s as materialized (select x.task_number from %3$s x where %2$s and coalesce(%4$s) is null group by x.task_number), '
                'step_%1$s as not materialized (select x.*, %2$s and a.task_number is null as ignored_%1$s, %5$s from %3$s x left join answer_%1$s a on a.task_number = x.task_number), ',
                p_levels[1], format('coalesce(%s) is null', array_to_string(p_failed, ', ')), p_relation,
                (select string_agg(format('x.said_%s', l.level), ', ' order by l.number) from unnest(p_levels) with ordinality l(level, number)),
                (select string_agg(format('case when coalesce(%1$s) is null and (a.task_number is not null or starts_with(x.said_%2$s, ''!'')) then %3$L || ltrim(x.said_%2$s, ''!'') end as lost_%2$s',
                                          array_to_string(p_failed, ', '), l.level, p_said[l.number]), ', ' order by l.number)
                   from unnest(p_levels) with ordinality l(level, number)))
$$;

comment on function brokerage.compose_set_step(int[], text[], text, text[]) is
'SQL of a relation that adds lost_<level>: why set rules that stand together lose a queue beside the others of its task, and ignored_<first level>: whether they are ignored for it.';
