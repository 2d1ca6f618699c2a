-- instance-scheduling.md: a limit on instances per task and per Setup.
create or replace function instance.allowed(p_setup text, p_task_id bigint, out most bigint, out reason text)
language sql stable
as $$
  with live as (
    select count(*) as of_setup, count(*) filter (where i.task_id is not distinct from p_task_id) as of_task
      from instance.instance i where i.setup = p_setup and i.state <> 'released'
  ), setting as (
    select max(s.most_instances) as most_instances, coalesce((select l.most_instances from instance.task_limit l where l.setup = p_setup and l.task_id = p_task_id), max(s.most_per_task)) as most_per_task
      from instance.setting s where s.setup = p_setup
  )
  select x.most, x.reason
    from setting s, live c,
         lateral (values (greatest(s.most_instances - c.of_setup, 0), format('setup %s has the %s instances that it may have', p_setup, s.most_instances)),
                         (greatest(s.most_per_task - c.of_task, 0), format('task %s has the %s instances that it may have', p_task_id, s.most_per_task))) x (most, reason)
   order by x.most nulls last limit 1
$$;

comment on function instance.allowed(text, bigint) is
'How many more instances a task (null = jobs of none) may have, null = any number, and the limit that says so in words.';
