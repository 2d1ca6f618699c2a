-- after: taskqueue.lease_from_queues
-- after: taskqueue.queue_points
-- Sections 5 and 6: one job for an offer. Buckets from the highest down, queues in drawn order, user priorities in drawn order, one of the first
-- ten. Empty and locked candidates are passed over; the others keep their keys, so the law holds over the rest.
-- Queues are drawn one after the other (taskqueue.queue_points), not sorted, so that a match costs the same whatever their number. After a hundred points in
-- vain (eight where there are few queues) the rest of the bucket is drawn a key a queue, given that all are above the last point.
-- Where more than 32 points were needed few match, and the definitions that do are found out once (taskqueue.find_matching) and kept with the
-- description; so a resource that matches nothing gets its answer at once.
-- Rejected: a key a queue, sorted (0.5 us a queue); conditions before the sort (1.7 us a queue); order statistics a band (0.9 us a band).
create or replace function taskqueue.lease_drawn(p_setup text, p_known taskqueue.known_offer, p_seed bigint, p_role_name text) returns taskqueue.leased
language plpgsql
as $$
declare
  v_leased taskqueue.leased;
  v_offer taskqueue.offer := p_known.offer;
  v_sites text[] := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  v_bucket bigint;
  v_number int;
  v_above float8;
  v_passed bigint[] := '{}'::bigint[];
  v_free boolean := true;
  v_slots jsonb;
  v_seen boolean := false;
  -- where several sites are offered, a queue counts in the list of one of them; the last point is there to say how far the draw has come
  v_points cursor (c_bucket bigint) for
    select p.number, p.room, p.key, p.task_queue_id, p.definition_id, d.requirements, f.fits
      from taskqueue.queue_points(p_setup, v_sites, c_bucket, p_seed, p_known.policy, 100) p
      left join taskqueue.definition d on d.setup = p_setup and d.definition_id = p.definition_id
     cross join lateral (
           select p.comes and taskqueue.accepts(d, v_offer)
                  and (cardinality(v_sites) <= 2 or p.site = '*' or p.site = taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites)) as fits) f
     where p.number = case when p.room <= 16 then 8 else 100 end or f.fits
     order by p.number;
begin
  if v_offer.job_id is not null then
    return taskqueue.lease_wanted(p_setup, p_known, p_role_name);
  elsif p_known.matching is not null then
    return taskqueue.lease_from_queues(p_setup, p_known, p_known.matching || taskqueue.new_matching(p_setup, p_known), '{}', p_seed # 8, p_role_name, v_offer.cpu_time, 0, '{}');
  end if;
  for v_entry in reverse cardinality(p_known.cpu_buckets) .. 1 loop
    v_bucket := p_known.cpu_buckets[v_entry];
    continue when v_bucket > v_offer.cpu_time;
    v_above := 0;
    v_number := 0;
    for v_point in v_points (v_bucket) loop
      exit when v_point.room <= 16 and v_point.number > 8;
      v_number := v_point.number;
      v_above := v_point.key;
      exit when v_point.room <= 16 and v_point.number = 8 and v_point.fits is not true;
      continue when v_point.fits is not true or v_point.task_queue_id = any (v_passed);
      if v_offer.limited then
        select l.taken, l.slots into v_free, v_slots from taskqueue.lock_slots(p_setup, v_point.requirements, v_offer) l;
      end if;
      if v_free then
        v_leased := taskqueue.lease_from_queue(p_setup, v_point.task_queue_id, v_point.definition_id, v_offer.sites, v_offer.grid_ces,
                                               p_known.ten_first, p_known.policy, p_known.lease_time, p_seed # 4, p_role_name, resource.clock(p_setup), v_slots);
        if v_leased.job_id is not null then
          if v_number > 32 and p_known.matched_at is null then
            perform taskqueue.find_matching(p_setup, p_known);
          end if;
          return v_leased;
        end if;
      end if;
      v_passed := v_passed || v_point.task_queue_id;
    end loop;
    continue when v_number = 0;
    v_seen := true;
    if p_known.matched_at is null and v_number = 100 then
      p_known := taskqueue.find_matching(p_setup, p_known);
      if p_known.matching is not null then
        return taskqueue.lease_from_queues(p_setup, p_known, p_known.matching, '{}', p_seed # 8, p_role_name, v_bucket, v_above, v_passed);
      end if;
    end if;
    v_leased := taskqueue.lease_from_queues(p_setup, p_known, '{}', array(
      select distinct p.task_queue_id from taskqueue.posted_queue p where p.setup = p_setup and p.site = any (v_sites) and p.cpu_time = v_bucket),
      p_seed # 8, p_role_name, v_bucket, v_above, v_passed);
    if v_leased.job_id is not null then
      return v_leased;
    end if;
  end loop;
  if p_known.matched_at is null and v_seen then
    perform taskqueue.find_matching(p_setup, p_known);
  end if;
  return null;
end $$;

comment on function taskqueue.lease_drawn(text, taskqueue.known_offer, bigint, text) is
'Leases one job for an offer, by the law of section 5 under the seed given; null: nothing that is posted matches now.';
