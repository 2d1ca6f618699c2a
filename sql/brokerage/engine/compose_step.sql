-- Answers of a rule that looks at the other queues of the task: a set rule holds where some queue that is left passes it; a choice keeps the best of those that
-- have a value. p_failed are the columns that say why a pair was lost before. Kept are the answers (tasks, or pairs that lose), not the pairs with them.
create or replace function brokerage.compose_step(p_rule brokerage.profile_rule, p_level int, p_relation text, p_failed text[], p_said text) returns text
language sql stable
as $$
  select case p_rule.kind
    when 'set rule' then
      format('answer_%1$s as materialized (select x.task_number from %4$s x where coalesce(%2$s) is null and x.said_%1$s is null group by x.task_number), '
             'step_%1$s as not materialized (select x.*, case when coalesce(%2$s) is null and a.task_number is not null then %3$L || x.said_%1$s end as lost_%1$s from %4$s x'
             ' left join answer_%1$s a on a.task_number = x.task_number), ',
             p_level, array_to_string(p_failed, ', '), p_said, p_relation)
    else
      format('answer_%1$s as materialized (select o.task_number, o.queue from (select x.task_number, x.queue, row_number() over (partition by x.task_number order by x.said_%1$s desc, x.queue collate "C") as place'
             ' from %4$s x where coalesce(%2$s) is null and x.said_%1$s is not null) o where o.place > %5$s), '
             'step_%1$s as not materialized (select x.*, case when a.queue is not null then %3$L || format(''%%s is not among the %5$s best'', x.said_%1$s) end as lost_%1$s from %4$s x'
             ' left join answer_%1$s a on a.task_number = x.task_number and a.queue = x.queue), ',
             p_level, array_to_string(p_failed, ', '), p_said, p_relation, (p_rule.parameters ->> 'best')::bigint)
  end
$$;

comment on function brokerage.compose_step(brokerage.profile_rule, int, text, text[], text) is
'SQL of a relation that adds lost_<level>: why a set rule or a choice loses a queue beside the others of its task.';
