-- DRAWING.md, Order of the draw and Rare matches: CPU buckets go from the highest down, TaskQueues in drawn order. They
-- are drawn one by one (taskqueue.next_candidate), not sorted, so that a match costs the same whatever their number.
-- After enough rejected candidates (eight in short lists, else a hundred and more) the rest of the bucket is drawn with
-- a key per TaskQueue, given that all lie above the last key. TaskQueues that are passed over leave the others their
-- keys, so the distribution over the rest stays right.
create or replace function taskqueue.next_task_queue(
  p_setup text, p_known taskqueue.known_offer, p_race taskqueue.race
) returns taskqueue.race
language plpgsql as $$
declare
  v_sites text[] := case when (p_known.offer).sites is null then array[''] else (p_known.offer).sites || '*'::text end;
  v_bucket bigint;
  v_next record;
begin
  p_race.task_queue_id := null;
  if (p_known.offer).job_id is not null then
    if p_race.bucket_index > 0 then
      p_race.bucket_index := 0;
      p_race.task_queue_id := (taskqueue.wanted_task_queue(p_setup, p_known.offer))[1];
    end if;
    return p_race;
  end if;
  while p_race.bucket_index > 0 loop
    v_bucket := p_known.cpu_buckets[p_race.bucket_index];
    if p_race.definition_ids is null and p_known.matches is not null then
      p_race.definition_ids := taskqueue.kept_matching(p_known.known_id);
      if cardinality(p_race.definition_ids) < p_known.matches then  -- forgotten since the description was read
        p_known.matches := null;
        p_race.definition_ids := null;
        continue;
      end if;
      p_race.definition_ids := array(select unnest(p_race.definition_ids)
                                     union select unnest(taskqueue.new_matching(p_setup, p_known)));
    elsif p_race.definition_ids is null and p_race.tries >= p_race.max_tries then
      if p_race.tries >= 32 and p_known.matched_at is null then
        return p_race;
      end if;
      p_race.definition_ids := array(
        select distinct q.definition_id
          from taskqueue.task_queue q
         where q.setup = p_setup and q.task_queue_id = any (array(
               select p.task_queue_id from taskqueue.posted_task_queue p
                where p.setup = p_setup and p.site = any (v_sites) and p.cpu_time = v_bucket)));
    end if;
    if p_race.definition_ids is not null then
      p_race.task_queue_id := taskqueue.drawn_task_queue(
        p_setup, p_known.offer, p_race.definition_ids, v_bucket, p_race.last_key, p_race.passed, p_known.policy,
        p_race.seed # 8);
      if p_race.task_queue_id is not null then
        return p_race;
      end if;
    else
      p_race.tries := p_race.tries + 1;
      select o.max_tries, o.key, o.task_queue_id, o.site, o.is_accepted, o.definition into v_next
        from taskqueue.next_candidate(p_setup, v_sites, v_bucket, p_race.last_key, p_known.policy,
                                      p_race.seed # ((p_race.bucket_index * 1000000::bigint + p_race.tries) * 64),
                                      p_known.offer, p_known.tests) o;
    end if;
    if p_race.definition_ids is not null or not found then  -- the bucket is exhausted
      p_race.bucket_index := case when p_known.matches is null then p_race.bucket_index - 1 else 0 end;
      p_race.definition_ids := null;
      p_race.tries := 0;
      p_race.max_tries := 8;
      p_race.last_key := 0;
      continue;
    end if;
    p_race.listed := true;
    p_race.last_key := v_next.key;
    p_race.max_tries := greatest(p_race.max_tries, case when p_known.matched_at is null
                                                        then least(v_next.max_tries, 32) else v_next.max_tries end);
    continue when v_next.task_queue_id is null or v_next.is_accepted is false
                  or v_next.task_queue_id = any (p_race.passed)
                  or v_next.is_accepted is null and not taskqueue.accepts(v_next.definition, p_known.offer)
                  -- where several sites are offered, a TaskQueue counts in the list of one of them
                  or v_next.is_accepted is null and cardinality(v_sites) > 2 and v_next.site <> '*'
                     and v_next.site is distinct from taskqueue.first_site(
                       (p_known.offer).sites, (v_next.definition).sites, (v_next.definition).banned_sites);
    p_race.task_queue_id := v_next.task_queue_id;
    return p_race;
  end loop;
  return p_race;
end $$;

comment on function taskqueue.next_task_queue(text, taskqueue.known_offer, taskqueue.race) is
  'The next TaskQueue of the drawn order that matches a description. Without a TaskQueue: all CPU buckets are '
  'exhausted (bucket_index 0), or taskqueue.find_matching has to be called before the draw goes on.';
