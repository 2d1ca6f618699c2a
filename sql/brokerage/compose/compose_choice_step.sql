-- A choice keeps the best of the queues of a task that have a value. p_failed are the columns with the reasons for
-- which a pair was lost before. The relation has a row for each pair that the choice loses.
create or replace function brokerage.compose_choice_step(
  p_level int, p_said text, p_relation text, p_failed text[], p_best bigint
) returns text
language sql immutable parallel safe as $$
  select format($q$answer_%1$s as materialized (
                     select o.task_number, o.queue
                       from (select x.task_number, x.queue, row_number() over (partition by x.task_number
                                    order by x.said_%1$s desc, x.queue collate "C") as place
                               from %4$s x
                              where coalesce(%2$s) is null and x.said_%1$s is not null) o
                      where o.place > %5$s),
                   step_%1$s as not materialized (
                     select x.*, case when a.queue is not null
                                      then %3$L || format('%%s is not among the %5$s best', x.said_%1$s)
                                 end as lost_%1$s
                       from %4$s x
                       left join answer_%1$s a on a.task_number = x.task_number and a.queue = x.queue), $q$,
                p_level, array_to_string(p_failed, ', '), p_said, p_relation, p_best)
$$;

comment on function brokerage.compose_choice_step(int, text, text, text[], bigint) is
  'SQL of a relation that adds lost_<level>: why a choice loses a queue beside the others of its task.';
