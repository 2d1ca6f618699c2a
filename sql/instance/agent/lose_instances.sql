-- An instance that was taken away, or never came: its jobs wait again, and nothing more is placed on it. Leases of
-- its jobs end: what its agent says of them is stale.
create or replace function instance.lose_instances(p_setup text, p_instance_ids bigint[])
returns table (job_id bigint, answer text)
language plpgsql
security definer set search_path = instance, pg_temp set enable_seqscan = off
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_id bigint;
  v_jobs instance.job[];
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform instance.lock_schedule(p_setup);
  v_jobs := array(select j.o from (select distinct u from unnest(p_instance_ids) u) u (instance_id)
                   cross join lateral (select o from instance.job o
                                        where o.setup = p_setup and o.instance_id = u.instance_id and o.state = 'placed'
                                       offset 0) j);
  -- its agent is gone, too
  perform taskqueue.return_leases(
    p_setup, array(select j.taskqueue_job_id from unnest(v_jobs) j where j.taskqueue_job_id is not null),
    'its instance was lost');
  return query
  select l.job_id, l.answer
    from instance.leave_instances(p_setup, array(select j.job_id from unnest(v_jobs) j), '{placed}', 'waiting',
                                  'its instance was lost', true) l;
  for v_id in select distinct u from unnest(p_instance_ids) u order by u loop
    update instance.instance i
       set state = 'released', released_at = v_now
     where i.setup = p_setup and i.instance_id = v_id and i.state <> 'released';
  end loop;
end $$;

comment on function instance.lose_instances(text, bigint[]) is
  'Instances are gone: they count as released, and their jobs wait to be placed again (a row each). Jobs of TaskQueues '
  'that agents have go back to their TaskQueues: the agents'' attempts are stale. '
  'Errors: PB001 (no such setup), PB002 (setup not granted).';
