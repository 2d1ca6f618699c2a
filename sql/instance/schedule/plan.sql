create or replace function instance.plan(p_setup text, p_task_id bigint, p_queue text default null)
returns table (place bigint, step_id bigint, cpu numeric, ram numeric, instance_id bigint, number int, type text,
               free_cpu numeric, free_ram numeric)
language plpgsql stable security definer set search_path = instance, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_known_setup(p_setup);
  return query
  select p.ordinality, p.step_id, p.cpu, p.ram, p.instance_id, p.number, p.type, p.free_cpu, p.free_ram
    from instance.packing(p_setup, p_task_id, p_queue,
                          (select a.most from instance.allowed(p_setup, p_task_id) a)) with ordinality p;
end $$;

comment on function instance.plan(text, bigint, text) is
  'The places that instance.schedule_task would now give the steps of a task (null means steps of no task) at a queue '
  'of kind cloud (null means at none), in their order (place). A place is an existing instance (instance_id) or a new '
  'one (number, from 1), with the space that is free there before. The call stores nothing. Errors: PB001 (no such '
  'setup), PB002 (setup not granted).';
