-- after: taskqueue.lease_from_queue
-- Section 4, condition 11: with JobID only that job, if it is waiting and its queue matches.
create or replace function taskqueue.lease_wanted(p_setup text, p_known taskqueue.known_offer, p_role_name text) returns taskqueue.leased
language plpgsql
as $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_found record;
  v_free boolean := true;
  v_slots jsonb;
begin
  select j.task_queue_id, d as definition into v_found
    from taskqueue.job j
    join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
    join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
   where j.setup = p_setup and j.job_id = v_offer.job_id and not j.held and taskqueue.is_open(q) and taskqueue.accepts(d, v_offer);
  if not found then
    return null;
  end if;
  if v_offer.limited then
    select l.taken, l.slots into v_free, v_slots from taskqueue.lock_slots(p_setup, (v_found.definition).requirements, v_offer) l;
    if not v_free then
      return null;
    end if;
  end if;
  return taskqueue.lease_from_queue(p_setup, v_found.task_queue_id, (v_found.definition).definition_id, v_offer.sites, v_offer.grid_ces,
                                    p_known.ten_first, p_known.policy, p_known.lease_time, 0, p_role_name, resource.clock(p_setup), v_slots, v_offer.job_id);
end $$;

comment on function taskqueue.lease_wanted(text, taskqueue.known_offer, text) is
'Leases the job that the offer wants; null: it does not wait, is held or locked, or its queue does not match.';
