-- after: taskqueue.take_from_queues
-- Sections 5 and 6: one job for an offer. Buckets from the highest down, queues in drawn order, user priorities in drawn order, one of the first
-- ten. Empty and locked candidates are passed over; the others keep their keys, so the law holds over the rest.
-- Queues are drawn one after the other (taskqueue.draw_queue), not sorted, so that a match costs the same whatever their number. After some points in
-- vain the rest of the bucket is drawn a key a queue, given that all are above the last point; few queues are drawn so from the beginning.
-- Where 24 candidates in vain show that few match, the definitions that do are found out once (taskqueue.find_matching) and kept with the
-- description; so a resource that matches nothing gets its answer at once.
-- Rejected: a key a queue, sorted (0.5 us a queue); conditions before the sort (1.7 us a queue); order statistics a band (0.9 us a band).
create or replace function taskqueue.take(p_setup text, p_known taskqueue.known_offer, p_seed bigint) returns taskqueue.taken
language plpgsql
as $$
declare
  v_taken taskqueue.taken;
  v_offer taskqueue.offer := p_known.offer;
  v_definition taskqueue.definition;
  v_sites text[] := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  v_bucket bigint;
  v_point record;
  v_above float8;
  v_points int := 0;
  v_passed bigint[] := '{}';
  v_free boolean;
begin
  if p_known.matching is not null then
    return taskqueue.take_from_queues(p_setup, p_known, p_known.matching || taskqueue.new_matching(p_setup, p_known), '{}', p_seed # 8, v_offer.cpu_time, 0, '{}');
  end if;
  foreach v_bucket in array p_known.cpu_buckets loop
    continue when v_bucket > v_offer.cpu_time;
    v_above := 0;
    loop
      v_points := v_points + 1;
      select * into v_point from taskqueue.draw_queue(p_setup, v_sites, v_bucket, p_seed # (16 * v_points), v_above, p_known.policy);
      exit when v_point.room is null or v_point.room <= 16;
      v_above := v_point.key;
      if v_point.comes and v_point.task_queue_id <> all (v_passed) then
        v_definition := v_point.definition;
        -- where several sites are offered, a queue counts in the list of one of them
        if (cardinality(v_offer.sites) = 1 or v_point.site in ('', '*')
            or v_point.site = taskqueue.first_site(v_offer.sites, v_definition.sites, v_definition.banned_sites))
           and taskqueue.accepts(v_definition, v_offer) then
          v_free := true;
          if v_offer.limited then
            select l.taken, l.slots into v_free, v_taken.slots from taskqueue.lock_slots(p_setup, v_definition.requirements, v_offer) l;
          end if;
          if v_free then
            v_taken.job := taskqueue.take_from_queue(p_setup, v_point.task_queue_id, p_known.ten_first, p_known.policy, p_seed # 4);
            if (v_taken.job).job_id is not null then
              v_taken.definition := v_definition;
              return v_taken;
            end if;
          end if;
        end if;
        v_passed := v_passed || v_point.task_queue_id;
      end if;
      exit when cardinality(v_passed) >= case when p_known.matched_at is null then 24 else 64 end or v_points >= 100;
    end loop;
    continue when v_point.room is null;
    if p_known.matched_at is null and v_point.room > 16 then
      p_known := taskqueue.find_matching(p_setup, p_known);
      if p_known.matching is not null then
        return taskqueue.take_from_queues(p_setup, p_known, p_known.matching, '{}', p_seed # 8, v_bucket, v_above, v_passed);
      end if;
    end if;
    v_taken := taskqueue.take_from_queues(p_setup, p_known, '{}', array(
      select distinct p.task_queue_id from taskqueue.posted_queue p where p.setup = p_setup and p.site = any (v_sites) and p.cpu_time = v_bucket),
      p_seed # 8, v_bucket, v_above, v_passed);
    if (v_taken.job).job_id is not null then
      return v_taken;
    end if;
  end loop;
  if p_known.matched_at is null and v_points > 0 then
    perform taskqueue.find_matching(p_setup, p_known);
  end if;
  return null;
end $$;

comment on function taskqueue.take(text, taskqueue.known_offer, bigint) is
'Takes one job out of waiting for an offer, by the law of section 5 under the seed given; null: nothing matches now. The caller writes the lease.';
