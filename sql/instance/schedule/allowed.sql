-- instance-scheduling.md: a limit on instances per task and per Setup.
create or replace function instance.allowed(p_setup text, p_task_id bigint, out most bigint, out reason text)
language sql stable
as $$
  with live as (
    select count(*) as of_setup, count(*) filter (where i.task_id is not distinct from p_task_id) as of_task
      from instance.instance i where i.setup = p_setup and i.state <> 'released'
  ), bound (bound, live, name) as (
    select s.most_instances, c.of_setup, 'setup ' || p_setup from instance.setting s, live c where s.setup = p_setup
    union all
    select coalesce((select l.most_instances from instance.task_limit l where l.setup = p_setup and l.task_id = p_task_id),
                    (select s.most_per_task from instance.setting s where s.setup = p_setup)),
           c.of_task, coalesce('task ' || p_task_id, 'what is of no task') from live c
  )
  select greatest(b.bound - b.live, 0), case when b.bound <= b.live then format('%s has %s instances, and may have %s', b.name, b.live, b.bound) end
    from bound b where b.bound is not null
   order by 1 limit 1
$$;

comment on function instance.allowed(text, bigint) is
'How many more instances a task (null = jobs of none) may have, null = any number; reason: the limit that allows none, in words.';
