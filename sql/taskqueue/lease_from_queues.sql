-- after: taskqueue.lease_from_queue
-- Some queues, each with a key of its own: sorted, and the conditions tested in that order until one gives a job; filtering a drawn order is drawing
-- over the filtered. One statement sees them all as of one moment. It goes on where taskqueue.lease_job stopped: in that bucket the keys are drawn given
-- that they are above the last point, and the queues that came before it are left out; lower buckets begin anew.
create or replace function taskqueue.lease_from_queues(p_setup text, p_known taskqueue.known_offer, p_definition_ids bigint[], p_task_queue_ids bigint[],
                                                       p_seed bigint, p_role_name text, p_bucket bigint, p_above float8, p_passed bigint[]) returns taskqueue.leased
language plpgsql
as $$
declare
  v_leased taskqueue.leased;
  v_offer taskqueue.offer := p_known.offer;
  v_free boolean;
  v_slots jsonb;
  v_candidates cursor for
    select c.task_queue_id, d as definition
      from (select q.*, taskqueue.draw_key(taskqueue.draw(q.task_queue_id, p_seed), 1, q.priority, p_known.policy,
                                           case when q.cpu_time = p_bucket then p_above else 0 end) as key
              from (select o.task_queue_id, o.definition_id, o.cpu_time, o.priority, o.posted
                      from unnest(p_definition_ids) i join taskqueue.task_queue o on o.setup = p_setup and o.definition_id = i
                    union all
                    select o.task_queue_id, o.definition_id, o.cpu_time, o.priority, o.posted
                      from unnest(p_task_queue_ids) i join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = i) q
             where q.posted and q.cpu_time <= least(v_offer.cpu_time, p_bucket) and q.task_queue_id <> all (p_passed)
             order by q.cpu_time desc, key offset 0) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id
     where taskqueue.accepts(d, v_offer)
     order by c.cpu_time desc, c.key;
begin
  for v_candidate in v_candidates loop
    if v_offer.limited then
      select l.taken, l.slots into v_free, v_slots from taskqueue.lock_slots(p_setup, (v_candidate.definition).requirements, v_offer) l;
      continue when not v_free;
    end if;
    v_leased := taskqueue.lease_from_queue(p_setup, v_candidate.task_queue_id, (v_candidate.definition).definition_id, v_offer.sites, v_offer.grid_ces,
                                           p_known.ten_first, p_known.policy, p_known.lease_time, p_seed # 4, p_role_name, resource.clock(p_setup), v_slots);
    if v_leased.job_id is not null then
      return v_leased;
    end if;
  end loop;
  return null;
end $$;

comment on function taskqueue.lease_from_queues(text, taskqueue.known_offer, bigint[], bigint[], bigint, text, bigint, float8, bigint[]) is
'Leases one job for an offer, from the queues of some definitions and from those named; null: there is none. p_bucket, p_above, p_passed: where to go on; the CPU time offered, 0, {} = from the beginning.';
