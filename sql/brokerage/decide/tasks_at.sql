-- The function uses no subscripts, since each would read the array from its beginning.
create or replace function brokerage.tasks_at(p_tasks brokerage.task_facts[], p_numbers bigint[])
returns brokerage.task_facts[]
language sql immutable as $$
  select case when cardinality(p_numbers) = cardinality(p_tasks) then p_tasks
              else array(select u.task
                           from (select f as task, row_number() over () as number from unnest(p_tasks) f) u
                          where u.number = any (p_numbers)
                          order by u.number) end
$$;

comment on function brokerage.tasks_at(brokerage.task_facts[], bigint[]) is
  'The tasks at some places, in their order.';
