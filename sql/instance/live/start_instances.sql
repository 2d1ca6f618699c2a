create or replace function instance.start_instances(p_setup text, p_instance_ids bigint[]) returns bigint
language plpgsql
security definer set search_path = instance, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan  -- each row by its key, however many they are
as $$
declare
  v_started bigint;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform from unnest(p_instance_ids) u (instance_id) join instance.instance i on i.setup = p_setup and i.instance_id = u.instance_id order by i.instance_id for update of i;
  update instance.instance i set state = 'running', started_at = resource.clock(p_setup)
    from unnest(p_instance_ids) u (instance_id)
   where i.setup = p_setup and i.instance_id = u.instance_id and i.state = 'requested';
  get diagnostics v_started = row_count;
  return v_started;
end $$;

comment on function instance.start_instances(text, bigint[]) is
'Requested instances are there now; returns how many were requested. Errors: PB001 (no such setup), PB002 (setup not granted).';
