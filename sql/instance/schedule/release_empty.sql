-- PACKING.md, Schedule: the fourth phase.
create or replace function instance.release_empty(p_setup text, p_task_id bigint, p_queue text default null)
returns bigint
language plpgsql
security definer set search_path = instance, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_released bigint;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform instance.lock_schedule(p_setup);
  update instance.instance i set state = 'released', released_at = v_now
    from instance.live_instances(p_setup, p_task_id, p_queue) l
   where i.setup = p_setup and i.instance_id = l.instance_id and l.used_cpu = 0 and l.used_ram = 0
     and i.state <> 'released' and i.used_cpu = 0 and i.used_ram = 0
     -- used_cpu and used_ram may be 0 with steps, which may need nothing; offset 0 keeps a lookup for each instance
     and not exists (select from instance.step s
                      where s.setup = p_setup and s.instance_id = l.instance_id and s.state = 'placed'
                     offset 0);
  get diagnostics v_released = row_count;
  return v_released;
end $$;

comment on function instance.release_empty(text, bigint, text) is
  'Releases the instances of a task (null means of no task) at a queue of kind cloud (null means at none) that have no '
  'steps, and returns how many. instance.schedule ends with this call. Errors: PB001 (no such setup), PB002 (setup not '
  'granted).';
