-- PACKING.md, Limits on instances.
create or replace function instance.allowed(p_setup text, p_task_id bigint, out most bigint, out reason text)
language sql stable as $$
  with bound (bound, of_task, name) as (
    select s.most_instances, false, 'setup ' || p_setup
      from instance.setting s
     where s.setup = p_setup and s.most_instances is not null
    union all
    select m.most, true, coalesce('task ' || p_task_id, 'the group of steps without a task')
      from (select coalesce((select l.most_instances from instance.task_limit l
                              where l.setup = p_setup and l.task_id = p_task_id),
                            (select s.most_per_task from instance.setting s where s.setup = p_setup)) as most) m
     where m.most is not null
  ), counted as (
    select b.bound, b.name,
           case when not b.of_task then (select count(*) from instance.instance i
                                          where i.setup = p_setup and i.state <> 'released')
                when p_task_id is null then (select count(*) from instance.instance i
                                              where i.setup = p_setup and i.task_id is null and i.state <> 'released')
                else (select count(*) from instance.instance i
                       where i.setup = p_setup and i.task_id = p_task_id and i.state <> 'released') end as live
      from bound b
  )
  select greatest(c.bound - c.live, 0),
         case when c.bound <= c.live then format('%s has %s instances, and may have %s', c.name, c.live, c.bound) end
    from counted c
   order by 1 limit 1
$$;

comment on function instance.allowed(text, bigint) is
  'The number of further instances that a task may get (p_task_id null: the steps of no task); null means any number. '
  'reason: the limit that is reached, in words; null if none is.';
