-- Steps of no task come last.
create or replace function instance.tasks_to_schedule(p_setup text, p_task_id bigint default null)
returns table (task_id bigint, queue text)
language plpgsql stable security definer set search_path = instance, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_known_setup(p_setup);
  return query
  select x.task_id, x.queue
    from (select s.task_id, s.queue from instance.step s
           where s.setup = p_setup and s.state in ('waiting', 'unschedulable')
             and (p_task_id is null or s.task_id = p_task_id)
          union
          select i.task_id, i.queue from instance.instance i
           where i.setup = p_setup and i.state <> 'released' and (p_task_id is null or i.task_id = p_task_id)) x
   order by x.task_id nulls last, x.queue nulls first;
end $$;

comment on function instance.tasks_to_schedule(text, bigint) is
  'The task given, or (null) all tasks, if they have instances or steps on no instance, in the order in which '
  'instance.schedule takes them. queue: of kind cloud; null if there is none. task_id null means steps and instances '
  'of no task. Errors: PB001 (no such setup), PB002 (setup '
  'not granted).';
