-- after: instance.lock_schedule
-- after: instance.leave_instances
-- An instance that was taken away, or never came: its jobs wait again, and nothing more is placed on it.
create or replace function instance.lose_instances(p_setup text, p_instance_ids bigint[]) returns table (job_id bigint, answer text)
language plpgsql
security definer set search_path = instance, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan  -- each row by its key, however many they are
as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform instance.lock_schedule(p_setup);
  return query
  select l.job_id, l.answer
    from instance.leave_instances(p_setup, array(select j.job_id from unnest(p_instance_ids) u (instance_id)
                                                 join instance.job j on j.setup = p_setup and j.instance_id = u.instance_id and j.state = 'placed'),
                                  '{placed}', 'waiting', 'its instance was lost', true) l;
  update instance.instance i set state = 'released', released_at = resource.clock(p_setup)
    from unnest(p_instance_ids) u (instance_id)
   where i.setup = p_setup and i.instance_id = u.instance_id and i.state <> 'released';
end $$;

comment on function instance.lose_instances(text, bigint[]) is
'Instances are gone: they count as released, and their jobs wait to be placed again (a row each). Errors: PB001 (no such setup), PB002 (setup not granted).';
