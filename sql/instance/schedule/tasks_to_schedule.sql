-- Tasks in the order in which a schedule of all takes them: those of no task last.
create or replace function instance.tasks_to_schedule(p_setup text) returns table (task_id bigint)
language plpgsql stable
security definer set search_path = instance, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  return query
  select x.task_id
    from (select j.task_id from instance.job j where j.setup = p_setup and j.state in ('waiting', 'unschedulable')
          union
          select i.task_id from instance.instance i where i.setup = p_setup and i.state <> 'released') x
   order by x.task_id nulls last;
end $$;

comment on function instance.tasks_to_schedule(text) is
'Tasks that have jobs on no instance, or instances: what instance.schedule takes when no task is named; null = jobs and instances of no task. Errors: PB001 (no such setup), PB002 (setup not granted).';
