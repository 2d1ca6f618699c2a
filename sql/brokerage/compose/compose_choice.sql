-- A choice keeps the best queues of a task, by a value; queues without a value are not affected.
create or replace function brokerage.compose_choice(c brokerage.composition, p_choice brokerage.plan_step)
returns brokerage.composition
language plpgsql stable as $$
begin
  c.beside := c.beside || format(', case when %s then %s end as said_%s', brokerage.compose_alive(c.alone),
                                 p_choice.call, p_choice.level);
  c.asked := c.asked || format('x.said_%s', p_choice.level);
  c.steps := c.steps || brokerage.filled(
    $q$answer_{level} as materialized (
         select o.task_number, o.queue
           from (select x.task_number, x.queue,
                        row_number() over (partition by x.task_number
                                           order by x.said_{level} desc, x.queue collate "C") as place
                   from {relation} x
                  where {alive} and x.said_{level} is not null) o
          where o.place > {best}),
       step_{level} as not materialized (
         select x.*, case when a.queue is not null
                          then {begins} || format('%s is not among the {best} best', x.said_{level})
                     end as lost_{level}
           from {relation} x
           left join answer_{level} a on a.task_number = x.task_number and a.queue = x.queue), $q$,
    jsonb_build_object('level', p_choice.level, 'relation', c.relation, 'alive', brokerage.compose_alive(c.failed),
                       'best', p_choice.best, 'begins', quote_literal(p_choice.reason_begins)));
  c.relation := format('step_%s', p_choice.level);
  c.failed := c.failed || format('x.lost_%s', p_choice.level);
  return c;
end $$;

comment on function brokerage.compose_choice(brokerage.composition, brokerage.plan_step) is
  'A query with one more relation, which adds lost_<level>: the reason why a choice rejects a queue in comparison with '
  'the others of its task.';
