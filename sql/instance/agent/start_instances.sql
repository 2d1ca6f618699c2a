create or replace function instance.start_instances(p_setup text, p_instance_ids bigint[]) returns bigint
language plpgsql security definer set search_path = instance, pg_temp as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_started bigint := 0;
  v_id bigint;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  for v_id in select distinct u from unnest(p_instance_ids) u order by u loop
    update instance.instance i
       set state = 'running', started_at = v_now
     where i.setup = p_setup and i.instance_id = v_id
       -- keeps the planner from the index of live instances, whose rows it would read one by one
       and (i.state = 'requested') is true;
    v_started := v_started + found::int;
  end loop;
  return v_started;
end $$;

comment on function instance.start_instances(text, bigint[]) is
  'Records that instances run, and returns how many of them were in the state requested before. Errors: PB001 (no such '
  'setup), PB002 (setup not granted).';
