create or replace function instance.lose_instances(p_setup text, p_instance_ids bigint[])
returns table (step_id bigint, answer text)
language plpgsql security definer set search_path = instance, pg_temp
set jit = off set enable_seqscan = off set enable_material = off as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_id bigint;
  v_steps instance.step[];
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform instance.lock_schedule(p_setup);
  perform taskqueue.enter_setup(p_setup);
  -- An agent that takes jobs locks its instance until it commits. Steps are locked before instances, as in every other
  -- call.
  perform from instance.step s
    where s.setup = p_setup and s.instance_id = any (p_instance_ids) and s.state = 'placed'
    order by s.step_id
      for update;
  perform from instance.instance i
    where i.setup = p_setup and i.instance_id = any (p_instance_ids)
    order by i.instance_id
      for update;
  v_steps := array(select s.o from (select distinct u from unnest(p_instance_ids) u) u (instance_id)
                    cross join lateral (select o from instance.step o
                                         where o.setup = p_setup and o.instance_id = u.instance_id
                                           and o.state = 'placed'
                                        offset 0) s);
  -- the agent is gone with its instance
  perform taskqueue.return_leases(
    p_setup, array(select s.job_id from unnest(v_steps) s where s.job_id is not null), 'its instance was lost');
  return query
  select l.step_id, l.answer
    from instance.leave_instances(p_setup, array(select s.step_id from unnest(v_steps) s), '{placed}', 'waiting',
                                  'its instance was lost', true) l;
  for v_id in select distinct u from unnest(p_instance_ids) u order by u loop
    update instance.instance i
       set state = 'released', released_at = v_now
     where i.setup = p_setup and i.instance_id = v_id and i.state <> 'released';
  end loop;
end $$;

comment on function instance.lose_instances(text, bigint[]) is
  'Records that instances are gone or never came: they count as released, and their steps wait again. Returns one row '
  'per step. The leases of jobs that these steps represent end: the jobs go back to their TaskQueues, and the attempts '
  'of the agents are stale. Errors: PB001 (no such setup), PB002 (setup not granted).';
