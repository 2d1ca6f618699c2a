create or replace function instance.set_task_limit(p_setup text, p_task_id bigint, p_limit int) returns void
language plpgsql security definer set search_path = instance, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if p_task_id is null or p_limit < 0 then
    raise exception '% is %', case when p_task_id is null then 'task' else 'most' end,
      case when p_task_id is null then 'null' else p_limit::text end
      using errcode = 'PB001', hint = 'Name a task, and 0 or more instances; null means no limit of its own.';
  end if;
  perform resource.require_setup(p_setup);
  if p_limit is null then
    delete from instance.task_limit l where l.setup = p_setup and l.task_id = p_task_id;
  else
    insert into instance.task_limit (setup, task_id, most_instances) values (p_setup, p_task_id, p_limit)
    on conflict (setup, task_id) do update set most_instances = p_limit;
  end if;
end $$;

comment on function instance.set_task_limit(text, bigint, int) is
  'Limits the instances of a task that are not released; null means the setting most_per_task of the setup. '
  'Errors: PB001 (no task, a number below 0), PB002 (setup not granted).';
