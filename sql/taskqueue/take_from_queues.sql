-- Some queues, each with a key of its own: sorted, and the conditions tested in that order until one gives a job; filtering a drawn order is drawing
-- over the filtered. One statement sees them all as of one moment. It goes on where taskqueue.take stopped: in that bucket the keys are drawn given
-- that they are above the last point, and the queues that came before it are left out; lower buckets begin anew.
create or replace function taskqueue.take_from_queues(p_setup text, p_known taskqueue.known_offer, p_definition_ids bigint[], p_task_queue_ids bigint[],
                                                      p_seed bigint, p_bucket bigint, p_above float8, p_passed bigint[]) returns taskqueue.taken
language plpgsql
as $$
declare
  v_taken taskqueue.taken;
  v_offer taskqueue.offer := p_known.offer;
  v_free boolean;
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
    v_taken.definition := v_candidate.definition;
    if v_offer.limited then
      select l.taken, l.slots into v_free, v_taken.slots from taskqueue.lock_slots(p_setup, (v_taken.definition).requirements, v_offer) l;
      continue when not v_free;
    end if;
    v_taken.job := taskqueue.take_from_queue(p_setup, v_candidate.task_queue_id, p_known.ten_first, p_known.policy, p_seed # 4);
    if (v_taken.job).job_id is not null then
      return v_taken;
    end if;
  end loop;
  return null;
end $$;

comment on function taskqueue.take_from_queues(text, taskqueue.known_offer, bigint[], bigint[], bigint, bigint, float8, bigint[]) is
'Takes one job out of waiting for an offer, from the queues of some definitions and from those named; null: there is none. p_bucket, p_above, p_passed: where to go on; the CPU time offered, 0, {} = from the beginning.';
