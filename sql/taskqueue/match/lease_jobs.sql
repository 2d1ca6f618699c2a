-- DRAWING.md, Order of the draw: the general way, for whatever taskqueue.match_job and taskqueue.lease_together do not
-- finish: jobs for a resource, one after the other, each with its own draws. CPU buckets go from
-- the highest down, TaskQueues in drawn order, user priorities in drawn order, then one of the first ten jobs. Empty
-- and locked candidates are passed over; the others keep their keys, so the distribution over the rest stays right.
-- TaskQueues are drawn one by one (taskqueue.next_candidate), not sorted, so that a match costs the same whatever their
-- number. After enough rejected candidates (eight in short lists, else a hundred and more) the rest of the bucket is
-- drawn with a key per TaskQueue, given that all lie above the last key. After the first 32 rejected candidates the
-- matching definitions are searched (taskqueue.find_matching) and kept with the description where they are few, so a
-- resource that matches nothing gets its answer at once. Tried and slower: a sorted key per TaskQueue (0.5 us each);
-- conditions before the sort (1.7 us per TaskQueue); order statistics per weight class (0.9 us per class); eight
-- candidates at a time by a window function (39 us, against 22 us a candidate, of which 1.4 are needed); one statement
-- for everything (its 45 plan nodes take 100 us more to prepare). Long because limits, a JobID, few matching TaskQueues
-- and the rest of a bucket are steps of one loop over the candidates.
create or replace function taskqueue.lease_jobs(
  p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null, p_streams taskqueue.stream[] default null,
  p_request_id uuid default null
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql rows 1 as $$
declare
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_token uuid;
  v_seed bigint;
  v_bucket_index int;
  v_tries int;
  v_max_tries int;  -- candidates, after which the rest of the bucket is drawn with a key per TaskQueue
  v_last_key float8;
  v_definition_ids bigint[];  -- their TaskQueues are drawn with a key each; null: draw candidates
  v_next bigint[];
  v_passed bigint[];
  v_task_queue record;
  v_card taskqueue.card;
  v_free boolean := true;
  v_listed boolean := false;  -- there are TaskQueues that the sites may see
  v_slots jsonb;
begin
  v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
  v_offer := v_known.offer;
  v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  for v_number in 1..p_limit loop
    job_id := null;
    v_token := coalesce((p_streams[v_number]).token, gen_random_uuid());
    -- not random(): an agent could set that
    v_seed := case when p_seed is null then uuid_hash_extended(v_token, 0) else hashint8extended(v_number, p_seed) end;
    if v_offer.limited then
      v_offer := taskqueue.with_limits(p_setup, p_resource, v_offer);
    end if;
    for v_round in 0..1 loop
      v_bucket_index := width_bucket(v_offer.cpu_time, v_known.cpu_buckets);
      v_tries := 0;
      v_max_tries := 8;
      v_last_key := 0;
      v_passed := '{}'::bigint[];
      v_next := null;
      v_definition_ids := null;
      if p_streams is not null and v_round = 0 then
        v_seed := (p_streams[v_number]).seed;
        v_bucket_index := (p_streams[v_number]).bucket_index;
        v_tries := (p_streams[v_number]).tries;
        v_last_key := (p_streams[v_number]).last_key;
        v_next := array[(p_streams[v_number]).task_queue_id];
        v_max_tries := case when v_next[1] is null then v_tries else 100 end;
        v_listed := true;
      end if;
      if v_offer.job_id is not null then
        v_bucket_index := 0;
        v_next := taskqueue.wanted_task_queue(p_setup, v_offer);
      elsif v_known.matching is not null then
        v_definition_ids := v_known.matching || taskqueue.new_matching(p_setup, v_known);
      end if;
      loop
        if v_next <> '{}' then
          select q.task_queue_id, d.definition_id, d.requirements, d.sites, d.banned_sites, d.grid_ces into v_task_queue
            from taskqueue.task_queue q
            join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
           where q.setup = p_setup and q.task_queue_id = v_next[1] and q.is_open;
          v_next := v_next[2:];
          continue when not found;
        elsif v_bucket_index = 0 then
          exit;
        elsif v_definition_ids is not null then
          v_next := taskqueue.drawn_task_queues(p_setup, v_offer, v_definition_ids,
                                                v_known.cpu_buckets[v_bucket_index]::bigint, v_last_key,
                                                v_passed, v_known.policy, v_seed # 8 # v_round);
          if v_next = '{}' then
            exit when v_known.matching is not null;
            v_definition_ids := null;
            v_bucket_index := v_bucket_index - 1;
            v_tries := 0;
            v_max_tries := 8;
            v_last_key := 0;
          end if;
          continue;
        elsif v_tries >= v_max_tries then
          if v_tries >= 32 and v_known.matched_at is null then
            v_known := taskqueue.find_matching(p_setup, v_known);
          end if;
          v_definition_ids := coalesce(v_known.matching, array(
            select distinct q.definition_id
              from taskqueue.task_queue q
             where q.setup = p_setup and q.task_queue_id = any (array(
                   select p.task_queue_id from taskqueue.posted_task_queue p
                    where p.setup = p_setup and p.site = any (v_sites)
                      and p.cpu_time = v_known.cpu_buckets[v_bucket_index]::bigint))));
          continue;
        else
          v_tries := v_tries + 1;
          select o.max_tries, o.key, o.task_queue_id, o.site, (o.definition).definition_id, (o.definition).requirements,
                 (o.definition).sites, (o.definition).banned_sites,
                 -- null: all conditions have to be tested
                 (o.definition).grid_ces, o.task_queue_id <> all (v_passed) and o.is_accepted as is_accepted
            into v_task_queue
            from taskqueue.next_candidate(p_setup, v_sites, v_known.cpu_buckets[v_bucket_index]::bigint,
                                          v_last_key, v_known.policy,
                                          v_seed # ((v_bucket_index * 1000000::bigint + v_tries) * 64 + v_round),
                                          v_offer, v_known.tests) o;
          if not found then
            v_bucket_index := v_bucket_index - 1;
            v_tries := 0;
            v_max_tries := 8;
            v_last_key := 0;
            continue;
          end if;
          v_listed := true;
          v_last_key := v_task_queue.key;
          v_max_tries := greatest(v_max_tries, case when v_known.matched_at is null
                                                    then least(v_task_queue.max_tries, 32)
                                                    else v_task_queue.max_tries end);
          -- where several sites are offered, a TaskQueue counts in the list of one of them
          if v_task_queue.is_accepted is null and v_task_queue.task_queue_id is not null then
            select taskqueue.accepts(d, v_offer)
                   and (cardinality(v_sites) <= 2 or v_task_queue.site = '*'
                        or v_task_queue.site = taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites))
              into v_free
              from taskqueue.definition d where d.setup = p_setup and d.definition_id = v_task_queue.definition_id;
            continue when v_free is not true;
          else
            continue when v_task_queue.is_accepted is not true;
          end if;
        end if;

        if v_offer.limited then
          select l.taken, l.slots
            into v_free, v_slots
            from taskqueue.lock_slots(p_setup, v_task_queue.requirements, v_offer) l;
          if not v_free then
            v_passed := v_passed || v_task_queue.task_queue_id;
            continue;
          end if;
        end if;
        if v_offer.job_id is not null then
          v_card := taskqueue.take_job(p_setup, v_offer.job_id, v_task_queue.task_queue_id);
        elsif p_seed is not null then
          v_card := taskqueue.draw_job(p_setup, v_task_queue.task_queue_id, v_known.ten_first, v_known.policy,
                                       v_seed # 4);
        else
          v_card := taskqueue.take_next(p_setup, v_task_queue.task_queue_id, v_known.ten_first, v_known.policy,
                                        v_seed # 4);
        end if;
        if v_card.job_id is null then
          perform taskqueue.drop_task_queue_if_empty(p_setup, v_task_queue.task_queue_id);
          v_passed := v_passed || v_task_queue.task_queue_id;
          continue;
        end if;
        insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site,
                                     grid_ce, role_name, matched_at, expires_at, brokered, request_id, asked)
        select p_setup, v_card.job_id, v_card.attempt, v_token, v_task_queue.task_queue_id, v_task_queue.definition_id,
               v_card.user_priority,
               case when cardinality(v_offer.sites) = 1 then v_offer.sites[1]
                    else taskqueue.first_site(v_offer.sites, v_task_queue.sites, v_task_queue.banned_sites) end,
               case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1]
                    else taskqueue.first_site(v_offer.grid_ces, v_task_queue.grid_ces, '{}') end,
               resource.caller(), t.now, t.now + v_known.lease_time, v_card.brokered, p_request_id,
               case when p_request_id is not null then jsonb_hash_extended(p_resource, 1) end
          from resource.setup_time t where t.setup = p_setup;
        if v_slots <> '[]' then
          perform taskqueue.use_slots(p_setup, v_card.job_id, v_slots);
        end if;
        if v_card.brokered or v_card.place * 4 >= v_card.cards * 3 then
          perform taskqueue.follow_match(p_setup, v_task_queue.task_queue_id, v_card, v_known.ten_first,
                                         v_known.policy);
        end if;
        job_id := v_card.job_id;
        task_queue_id := v_task_queue.task_queue_id;
        requirements := v_task_queue.requirements;
        user_priority := v_card.user_priority;
        attempt := taskqueue.attempt_text(v_card.attempt, v_token);
        return next;
        exit;
      end loop;
      exit when job_id is not null or v_round = 1 or not taskqueue.post_pending(p_setup);
    end loop;
    if v_number = 1 and p_streams is null
       and taskqueue.shall_note_resource(v_known, v_offer.cpu_time, job_id is not null) then
      v_known.offer := v_offer;
      perform taskqueue.note_resource(p_setup, p_resource, v_known, job_id is not null);
    end if;
    if v_known.matched_at is null and v_listed and job_id is null then
      v_known := taskqueue.find_matching(p_setup, v_known);
    end if;
    exit when job_id is null or v_offer.job_id is not null;
  end loop;
end $$;

comment on function taskqueue.lease_jobs(text, jsonb, int, bigint, taskqueue.stream[], uuid) is
  'Leases up to p_limit jobs to a resource; with a seed, the draws follow from the seed; with streams, it continues '
  'them. A request id is kept with the lease of one job. Errors: PB001 (description), PB002 (setup not granted).';
