-- DRAWING.md, Order of the draw: which waiting job does the worker node get that just asked? This is the short way: a
-- known description, its two posting lists in the highest CPU bucket (Next candidate), the next card of a hand.
-- What does not end here goes on in taskqueue.lease_jobs, from the TaskQueue and the key that were reached. The token,
-- which an agent cannot choose, seeds random(). The planner's settings: sql/README.md, Planner settings. Long because a
-- call pays for each table (12 us) and each operator (1 us) before it reads anything, so all is in one function.
create or replace function taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql rows 1
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_cpu_time numeric := case when jsonb_typeof(p_resource -> 'CPUTime') = 'number'
                                  and pg_column_size(p_resource) < 1048576
                             then (p_resource -> 'CPUTime')::numeric end;
  v_asked bigint := case when p_request_id is not null then jsonb_hash_extended(p_resource, 1) end;
  v_answer jsonb;
  v_resource jsonb;
  v_known record;
  v_tries int := 0;
  v_above float8 := 1;  -- 1 - highest bound x key: what is left of the race
  v_place float8;
  v_class int;  -- number of the weight class in its list; negative: in the second list
  v_bound float8;  -- upper bound of the weight class
  v_queue record;
  v_card taskqueue.card;
begin
  perform taskqueue.enter_setup(p_setup);
  v_answer := case when p_request_id is not null
                   then taskqueue.answer_given(p_setup, p_request_id, 'match_jobs', v_asked) end;
  if v_answer is not null then
    return query select * from taskqueue.jobs_of_answer(v_answer);
    return;
  end if;
  v_resource := case when v_cpu_time between 0 and 1e18 then p_resource - 'CPUTime' end;
  select k.*, t.token, setseed(uuid_hash_extended(t.token, 0) / 9223372036854775808.0::float8)
    into v_known
    from taskqueue.known_lists(p_setup, v_resource, v_cpu_time) k
   cross join lateral (select gen_random_uuid() as token offset 0) t;
  if v_known.is_plain and (v_known.bound > 0 or v_known.matching is not null and v_known.cpu_time > 0) then
    while v_tries < 32 loop
      v_tries := v_tries + 1;
      if v_known.matching is not null then
        select q.* into v_queue
          from taskqueue.draw_of_few(p_setup, v_known.matching, v_known.known_to, v_known.in_flight, v_known.cpu_time,
                                     v_known.policy, uuid_hash_extended(v_known.token, 5) # 8) q;
        exit when v_queue.task_queue_id is null;
      else
        v_above := v_above * power(random(), v_known.exponent);
        v_place := random() * v_known.bound;
        v_class := case when v_place < v_known.bound_1 then 1 + width_bucket(v_place, v_known.cumulative_1)
                        else -1 - width_bucket(v_place - v_known.bound_1, v_known.cumulative_2) end;
        v_bound := case when v_class > 0 then v_known.upper_1[v_class] else v_known.upper_2[-v_class] end;
        select q.task_queue_id, d.definition_id, d.requirements,
               random() * v_bound * (v_known.highest - q.priority * (1 - v_above))
               < q.priority * v_above * v_known.highest
               and case when d.demands & v_known.tests = 0 then v_known.site_1 <> all (d.banned_sites)
                        and (v_known.platforms is null or d.platforms = '{}' or d.platforms && v_known.platforms)
                        and (v_known.tags is null or d.tags <@ v_known.tags) end as is_accepted  -- null: test all
          into v_queue
          from taskqueue.posting p
          join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.is_open
          join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
         where p.setup = p_setup
           and p.list_id = case when v_class > 0 then v_known.list_1 else v_known.list_2 end
           and p.weight_class = case when v_class > 0 then v_known.classes_1[v_class]
                                     else v_known.classes_2[-v_class] end
           and p.position = 1 + floor((v_place - case
                 when v_class > 0 then coalesce(v_known.cumulative_1[v_class - 1], 0)
                 else v_known.bound_1 + coalesce(v_known.cumulative_2[-v_class - 1], 0) end) / v_bound)::int;
        continue when v_queue.is_accepted is not true
                      and (v_queue.is_accepted is not null or v_queue.task_queue_id is null
                           or not taskqueue.accepts_definition(p_setup, v_queue.definition_id, v_known.offer));
      end if;
      select c.job_id, c.user_priority, c.attempt, c.brokered, c.entry_id, c.place, h.hand_id, h.begun_id, h.cards,
             h.drawn, h.rest, h.known_to, h.in_flight, c.address, h.since  -- as taskqueue.next_card
        into v_card
        from (select i.* from taskqueue.hand i
               where i.setup = p_setup and i.task_queue_id = v_queue.task_queue_id
               order by i.hand_id desc limit 1) h
       cross join lateral (
             select j.*, a.place
               from (select unnest(h.addresses) as address, unnest(h.entry_ids) as entry_id,
                            generate_series(1, h.cards) as place) a
              cross join lateral (
                     select i.job_id, i.user_priority, i.attempts + 1 as attempt, i.brokered, i.entry_id,
                            i.ctid as address from taskqueue.job i where i.ctid = a.address and i.entry_id = a.entry_id
                        for update skip locked) j
              limit 1) c;
      delete from taskqueue.job j
       where j.ctid = v_card.address and v_card.since is not null
         and not exists (select from taskqueue.job_count_change c
                          where c.setup = p_setup and c.task_queue_id = v_queue.task_queue_id
                            and c.made_in >= v_card.since)
         and exists (select from taskqueue.hand h
                      where h.setup = p_setup and h.task_queue_id = v_queue.task_queue_id
                        and h.hand_id = v_card.hand_id);
      if not found then
        v_card := taskqueue.take_next(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy,
                                      hashtextextended(v_known.token::text, 4));
        exit when v_card.job_id is null;
      end if;
      insert into taskqueue.lease as l (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority,
                                        site, grid_ce, role_name, matched_at, expires_at, brokered, request_id, asked)
      select p_setup, v_card.job_id, v_card.attempt, v_known.token, v_queue.task_queue_id, v_queue.definition_id,
             v_card.user_priority, v_known.site, v_known.grid_ce, v_known.role_name, t.now,
             t.now + v_known.lease_time, v_card.brokered, p_request_id, v_asked
        from resource.setup_time t where t.setup = p_setup
      returning l.job_id, l.task_queue_id, v_queue.requirements, l.user_priority,
                l.attempt || '-' || replace(l.token::text, '-', '')
           into job_id, task_queue_id, requirements, user_priority, attempt;
      if taskqueue.shall_deal(v_card.place, v_card.cards) or v_card.brokered then
        perform taskqueue.follow_match(p_setup, v_queue.task_queue_id, v_card, v_known.ten_first, v_known.policy);
      end if;
      if v_known.seen_at is null or v_known.cpu_time <> all (v_known.seen) or random() < 0.02 then
        perform taskqueue.note_known(p_setup, p_resource, true);
      end if;
      return next;
      return;
    end loop;
    if v_known.matching is null or v_queue.is_accepted is not null then
      return query
        select * from taskqueue.lease_jobs(p_setup, p_resource, 1, null, array[
          row(1, 1, v_known.token, uuid_hash_extended(v_known.token, 5),
              width_bucket(coalesce(v_known.list_bucket, v_known.cpu_time)::float8, v_known.cpu_buckets), v_tries,
              case when v_known.exponent > 0 then (1 - v_above) / v_known.highest else 0 end,
              case when v_tries < 32 or v_queue.is_accepted then v_queue.task_queue_id end, v_queue.definition_id,
              null)::taskqueue.stream], p_request_id);
    end if;
    if v_known.seen_at is null or v_known.cpu_time <> all (v_known.seen) or random() < 0.1 then
      perform taskqueue.note_known(p_setup, p_resource, found);
    end if;
    return;
  end if;
  return query select * from taskqueue.lease_jobs(p_setup, p_resource, 1, null, null, p_request_id);
end $$;

comment on function taskqueue.match_job(text, jsonb, uuid) is
  'Leases one waiting job to a resource; no row: nothing matches now. Later calls about the job present the attempt. '
  'The same request id within ten minutes gives the same job. Errors: PB001 (description), PB002 (setup not granted).';
