-- DRAWING.md, Order of the draw: this is the short way, for a known description, its two posting lists in the highest
-- CPU bucket, and the next card of a hand. A draw that does not end here goes on in lease_together. The token, which an
-- agent cannot choose, seeds random(). Long because a call pays for each table (12 us) and operator (1 us).
create or replace function taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql rows 1
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_entered boolean := taskqueue.enter_setup(p_setup) and taskqueue.lock_request(p_setup, p_request_id);
  v_asked bigint := case when p_request_id is not null then jsonb_hash_extended(p_resource, 1) end;
  v_cpu_time numeric := case when jsonb_typeof(p_resource -> 'CPUTime') = 'number'
                                  and pg_column_size(p_resource) < 1048576
                             then (p_resource -> 'CPUTime')::numeric end;
  v_host text := case when p_resource ? 'HostName' then taskqueue.host_of(p_resource -> 'HostName') end;
  v_known jsonb[] := case  -- the key of the description, and the numbers of its attributes
    when (v_cpu_time between 0 and 1e18 and (v_host is null) = not p_resource ? 'HostName') is not true then null
    when p_resource ? 'Attributes' then taskqueue.rounded_description(p_setup, p_resource)
    else array[p_resource - '{CPUTime,HostName}'::text[]] end;
  v_may_wait boolean := pg_current_xact_id_if_assigned() is null;  -- a transaction without an id locked no row yet
  v_subject resource.subject := resource.subject();
  v_start record;
  v_parsed taskqueue.parsed_description;
  v_hosts text[];  -- as in taskqueue.asker
  v_leased taskqueue.stream[];
  v_tries int := 0;
  v_above float8 := 1;  -- 1 - highest bound x key, the rest of the race
  v_place float8;
  v_list taskqueue.posting_list;
  v_class int;  -- subscript of the weight class in its list
  v_queue record;  -- is_accepted: null means that all conditions have to be tested
  v_card taskqueue.card;
begin
  -- plan: the known description and its lists
  select k.*, t.token, setseed(uuid_hash_extended(t.token, 0) / 9223372036854775808.0::float8)
    into v_start from taskqueue.known_lists(p_setup, v_known[1], v_cpu_time, p_request_id, v_subject) k
   cross join lateral (select gen_random_uuid() as token offset 0) t;
  if p_request_id is not null and v_start.is_given is not false then
    return query
      select * from taskqueue.jobs_of_answer(taskqueue.answer_given(p_setup, p_request_id, 'match_jobs', v_asked));
    if found then
      return;
    end if;
  end if;
  v_parsed := case when v_known[2] is null then v_start.known
                   else taskqueue.with_numbers(v_start.known, v_known[2]) end;
  if v_parsed.guarded and v_parsed.is_plain then
    v_parsed.is_plain := not exists (select from taskqueue.quarantine_of(p_setup, v_parsed.offer, v_host));
  end if;
  if (v_parsed.is_plain
      and (v_start.bound > 0 or v_parsed.matches is not null and v_start.cpu_time > 0)) is not true then
    v_parsed.offer.cpu_time := case when v_parsed.digest is not null then floor(v_cpu_time) end;
    return query
      select * from taskqueue.lease_for_resource(p_setup, p_resource, 1, null, p_request_id, v_asked, v_parsed);
    return;
  end if;
  v_hosts := case when v_host is not null then array[taskqueue.host_at(v_host, v_parsed.site)] end;
  while v_tries < 32 loop
    v_tries := v_tries + 1;
    if v_start.bound = 0 then
      select q.* into v_queue
        from taskqueue.draw_of_few(p_setup, v_parsed, v_start.cpu_time, uuid_hash_extended(v_start.token, 5) # 8) q;
      exit when v_queue.task_queue_id is null;
    else
      -- the bounds keep out an underflow, which is an error
      v_above := greatest(v_above, 1e-150) * exp(greatest(v_start.exponent * ln(1 - random()), -345));
      v_place := random() * v_start.bound;
      v_list := case when v_place < v_start.bound_1 then v_start.list_1 else v_start.list_2 end;
      v_place := case when v_place < v_start.bound_1 then v_place else v_place - v_start.bound_1 end;
      v_class := 1 + width_bucket(v_place, v_list.cumulative_bounds);
      -- plan: a point
      select q.task_queue_id, d.definition_id, d.requirements, d.demands,
             random() * v_list.upper_bounds[v_class] * (v_start.highest - q.priority * (1 - v_above))
             < q.priority / q.siblings * v_above * v_start.highest and case when d.demands & v_parsed.tests = 0
                      then taskqueue.accepts_at_once(d, v_parsed.offer) end as is_accepted
        into v_queue
        from taskqueue.posting p
        join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.is_open
        join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
       where p.setup = p_setup and p.list_id = v_list.list_id and p.weight_class = v_list.weight_classes[v_class]
         and p.position = 1 + floor((v_place - coalesce(v_list.cumulative_bounds[v_class - 1], 0))
                                    / v_list.upper_bounds[v_class])::int;
      v_queue.is_accepted := coalesce(v_queue.is_accepted, v_queue.task_queue_id is not null and
                                      taskqueue.accepts_definition(p_setup, v_queue.definition_id, v_parsed.offer));
      continue when not v_queue.is_accepted;
    end if;
    exit when v_queue.demands & v_parsed.tests & 32 <> 0;  -- it counts at a limit, whose slots lease_together locks
    -- plan: the card of a match
    select n.hand_id, n.cards, n.drawn, n.rest, n.since, n.place, n.address
      into v_card.hand_id, v_card.cards, v_card.drawn, v_card.rest, v_card.since, v_card.place, v_card.address
      from taskqueue.next_cards(p_setup, v_queue.task_queue_id, 1, v_hosts, v_start.now) n;
    -- plan: the delete of the card of a match
    delete from taskqueue.job j
     where j.ctid = v_card.address and v_card.since is not null
       and not exists (select from taskqueue.job_count_change c
                        where c.setup = p_setup and c.task_queue_id = v_queue.task_queue_id
                          and c.made_in >= v_card.since)
       and exists (select from taskqueue.hand h
                    where h.setup = p_setup and h.task_queue_id = v_queue.task_queue_id and h.hand_id = v_card.hand_id)
    returning j.job_id, j.user_priority, j.attempts + 1, j.losses, j.failures, j.last_token, j.avoid, j.avoid_until,
              j.brokered into v_card.job_id, v_card.user_priority, v_card.attempt, v_card.losses, v_card.failures,
              v_card.last_token, v_card.avoid, v_card.avoid_until, v_card.brokered;
    exit when v_card.job_id is null;
    -- plan: the lease of a match
    -- plan: the lease of a match with a request id
    insert into taskqueue.lease as l (setup, job_id, attempt, losses, failures, last_token, avoid, avoid_until,
                                      token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name,
                                      matched_at, expires_at, brokered, request_id, asked, subject, host)
    values (p_setup, v_card.job_id, v_card.attempt, v_card.losses, v_card.failures, v_card.last_token, v_card.avoid,
            v_card.avoid_until, v_start.token, v_queue.task_queue_id, v_queue.definition_id, v_card.user_priority,
            v_parsed.site, v_parsed.grid_ce, v_start.role_name, v_start.now, v_start.now + v_parsed.lease_time,
            v_card.brokered, p_request_id, v_asked, v_subject.name, v_host)
    returning l.job_id, l.task_queue_id, v_queue.requirements, l.user_priority,
              l.attempt || '-' || replace(l.token::text, '-', '')
         into job_id, task_queue_id, requirements, user_priority, attempt;
    if v_card.brokered then
      perform taskqueue.mark_sent(p_setup, array[v_card.job_id]);
    end if;
    if taskqueue.shall_deal(v_card.place, v_card.cards, v_card.rest) then
      perform taskqueue.follow_hand(p_setup, v_queue.task_queue_id, v_card, v_parsed.ten_first, v_parsed.policy);
    end if;
    return next;
    exit;
  end loop;
  if job_id is null and (v_parsed.matches is null or v_queue.is_accepted is not null) then
    v_parsed.offer.cpu_time := v_start.cpu_time;
    v_leased := taskqueue.lease_together(
      p_setup, array[v_parsed], array[taskqueue.new_stream(
        p_number => 1, p_request => 1, p_token => v_start.token, p_seed => uuid_hash_extended(v_start.token, 5),
        p_bucket_index => width_bucket(coalesce(greatest((v_start.list_1).cpu_time, (v_start.list_2).cpu_time),
                                                v_start.cpu_time)::float8, v_parsed.cpu_buckets),
        p_tries => v_tries, p_max_tries => 32, p_last_key => coalesce((1 - v_above) / v_start.highest, 0),
        p_task_queue_id => case when v_queue.is_accepted then v_queue.task_queue_id end,
        p_definition_id => v_queue.definition_id, p_is_listed => true)],
      array[row(p_request_id, v_asked, v_subject.name, v_host, v_hosts)::taskqueue.asker], v_may_wait);
    return query
      select l.job_id, l.task_queue_id, l.requirements, l.user_priority, l.attempt
        from taskqueue.leased_jobs(p_setup, v_leased) l;
    v_queue.definition_id := v_leased[1].definition_id;
  end if;
  if taskqueue.shall_note_resource(v_parsed, v_start.cpu_time, found, v_start.now) then
    v_parsed.offer.cpu_time := v_start.cpu_time;
    perform taskqueue.note_resource(p_setup, p_resource, v_parsed, found, v_queue.definition_id);
  end if;
end $$;

comment on function taskqueue.match_job(text, jsonb, uuid) is
  'Leases a waiting job to a resource. No row: no job matches now. Later calls about the job present the attempt. The '
  'same request id within ten minutes gives the same job. Errors: PB001 (description), PB002 (setup not granted).';
