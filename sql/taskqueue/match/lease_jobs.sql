-- DRAWING.md, Order of the draw: the general way, for whatever taskqueue.match_job and taskqueue.lease_together do not
-- finish: jobs for a resource, one after the other, each with a race of its own (taskqueue.next_task_queue). TaskQueues
-- that are empty, locked or at a limit are passed over. After the first 32 rejected candidates, and where nothing
-- matches, the matching definitions are searched and kept with the description (taskqueue.find_matching), so that a
-- resource that matches nothing gets its answer at once. Long because limits, a JobID and streams that others began are
-- steps of one loop over the TaskQueues drawn.
create or replace function taskqueue.lease_jobs(
  p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null, p_streams taskqueue.stream[] default null,
  p_asker taskqueue.asker default null, p_known taskqueue.known_offer default null
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql rows 1 as $$
declare
  v_known taskqueue.known_offer := coalesce(
    p_known, taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup)));
  v_offer taskqueue.offer;
  v_subject text := coalesce(p_asker.subject, (resource.subject()).name);
  v_may_wait boolean := pg_current_xact_id_if_assigned() is null;  -- what is locked or written has an id
  v_stream taskqueue.stream;
  v_token uuid;
  v_seed bigint;
  v_race taskqueue.race;
  v_queue record;
  v_card taskqueue.card;
  v_free boolean;
  v_slots jsonb;
begin
  for v_number in 1..p_limit loop
    job_id := null;
    v_stream := p_streams[v_number];
    v_token := coalesce(v_stream.token, gen_random_uuid());
    -- not random(): an agent could set that
    v_seed := case when p_seed is null then uuid_hash_extended(v_token, 0) else hashint8extended(v_number, p_seed) end;
    if (v_known.offer).limited then
      v_known.offer := taskqueue.with_limits(p_setup, p_resource, v_known.offer);
    end if;
    v_offer := v_known.offer;
    for v_round in 0..1 loop
      if v_round = 0 and v_stream.token is not null then
        v_race := row(v_stream.seed, v_stream.bucket_index, v_stream.tries,
                      case when v_stream.task_queue_id is null then v_stream.tries else 100 end, v_stream.last_key,
                      null, '{}', true, v_stream.task_queue_id)::taskqueue.race;
      else
        v_race := row(v_seed # v_round, width_bucket(v_offer.cpu_time, v_known.cpu_buckets), 0, 8, 0, null, '{}',
                      coalesce(v_race.listed, false), null)::taskqueue.race;
      end if;
      loop
        if v_race.task_queue_id is null then
          v_race := taskqueue.next_task_queue(p_setup, v_known, v_race);
          if v_race.task_queue_id is null then
            exit when v_race.bucket_index = 0;
            v_known := taskqueue.find_matching(p_setup, v_known);
            continue;
          end if;
        end if;
        v_card := null;
        select q.task_queue_id, d.definition_id, d.requirements, d.sites, d.banned_sites, d.grid_ces into v_queue
          from taskqueue.task_queue q
          join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
         where q.setup = p_setup and q.task_queue_id = v_race.task_queue_id and q.is_open;
        v_free := found;
        if v_free and v_offer.limited then
          select l.taken, l.slots into v_free, v_slots
            from taskqueue.lock_slots(p_setup, v_queue.requirements, v_offer) l;
        end if;
        if v_free and v_offer.job_id is not null then
          v_card := taskqueue.take_job(p_setup, v_offer.job_id, v_queue.task_queue_id);
        elsif v_free and p_seed is not null then
          v_card := taskqueue.draw_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4);
        elsif v_free then
          v_card := taskqueue.take_next(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4,
                                        v_may_wait);
        end if;
        if v_card.job_id is null then
          if v_free then
            perform taskqueue.drop_task_queue_if_empty(p_setup, v_queue.task_queue_id);
          end if;
          v_race.passed := v_race.passed || v_race.task_queue_id;
          v_race.task_queue_id := null;
          continue;
        end if;
        insert into taskqueue.lease as l (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority,
                                          site, grid_ce, role_name, matched_at, expires_at, brokered, request_id, asked,
                                          subject)
        select p_setup, v_card.job_id, v_card.attempt, v_token, v_queue.task_queue_id, v_queue.definition_id,
               v_card.user_priority,
               case when cardinality(v_offer.sites) = 1 then v_offer.sites[1]
                    else taskqueue.first_site(v_offer.sites, v_queue.sites, v_queue.banned_sites) end,
               case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1]
                    else taskqueue.first_site(v_offer.grid_ces, v_queue.grid_ces, '{}') end,
               resource.caller(), t.now, t.now + v_known.lease_time, v_card.brokered, p_asker.request_id,
               case when p_asker.request_id is not null then jsonb_hash_extended(p_resource, 1) end,
               v_subject
          from resource.setup_time t where t.setup = p_setup
        returning l.job_id, l.task_queue_id, v_queue.requirements, l.user_priority,
                  taskqueue.attempt_text(l.attempt, l.token)
             into job_id, task_queue_id, requirements, user_priority, attempt;
        if v_slots <> '[]' then
          perform taskqueue.use_slots(p_setup, v_card.job_id, v_slots);
        end if;
        if v_card.brokered or taskqueue.shall_deal(v_card.place, v_card.cards, v_card.rest) then
          perform taskqueue.follow_match(p_setup, v_queue.task_queue_id, v_card, v_known.ten_first, v_known.policy);
        end if;
        return next;
        exit;
      end loop;
      exit when job_id is not null or v_round = 1 or not taskqueue.post_pending(p_setup);
    end loop;
    if v_number = 1 and p_streams is null
       and taskqueue.shall_note_resource(v_known, v_offer.cpu_time, job_id is not null, resource.clock(p_setup)) then
      perform taskqueue.note_resource(
        p_setup, p_resource, v_known, job_id is not null,
        case when job_id is not null then (taskqueue.definition_of_job(p_setup, job_id)).definition_id end);
    end if;
    if v_known.matched_at is null and v_race.listed and job_id is null then
      v_known := taskqueue.find_matching(p_setup, v_known);
    end if;
    exit when job_id is null or v_offer.job_id is not null;
  end loop;
end $$;

comment on function taskqueue.lease_jobs(text, jsonb, int, bigint, taskqueue.stream[], taskqueue.asker,
                                            taskqueue.known_offer) is
  'Leases up to p_limit jobs to a resource; with a seed, the draws follow from the seed; with streams, it continues '
  'them. A request id of p_asker is kept with the lease of one job. Errors: PB001 (description), PB002 (setup not '
  'granted).';
