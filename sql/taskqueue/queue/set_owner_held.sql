-- LEASES.md, Holds. No other call works in the setup at the same time, so no TaskQueue of the owner opens unnoticed.
create or replace function taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) returns bigint
language plpgsql as $$
declare
  v_ids bigint[] := '{}'::bigint[];
begin
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);  -- the setup may have been removed while this call waited
  if p_held then
    insert into taskqueue.held_owner (setup, owner_dn, held_at)
    values (p_setup, p_owner_dn, resource.clock(p_setup))
        on conflict do nothing;
  else
    delete from taskqueue.held_owner h where h.setup = p_setup and h.owner_dn = p_owner_dn;
  end if;
  if found then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q
                    where q.setup = p_setup and q.owner_dn = p_owner_dn);
    perform taskqueue.post_task_queues(p_setup, v_ids);
  end if;
  return cardinality(v_ids);
end $$;

comment on function taskqueue.set_owner_held(text, text, boolean) is
  'Holds or resumes the present and future TaskQueues of an owner; returns the number of present ones, or 0 if nothing '
  'changed. Errors: PB006 (busy).';
