-- DRAWING.md, Guarantees of the draw: makes the leases of the jobs taken, and does the steps that follow a match.
create or replace function taskqueue.lease_cards(
  p_setup text, p_parsed taskqueue.parsed_description[], p_streams taskqueue.stream[], p_askers taskqueue.asker[]
) returns void
language plpgsql as $$
declare
  v_parsed taskqueue.parsed_description := p_parsed[p_streams[1].request];
  v_brokered bigint[];
  v_limited taskqueue.stream[];
  v_last taskqueue.stream[];  -- the streams with the last cards of a hand
  v_stream taskqueue.stream;
begin
  -- plan: the leases
  with leased as (
    insert into taskqueue.lease (setup, job_id, attempt, losses, failures, last_token, avoid, avoid_until, token,
                                 task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at,
                                 expires_at, brokered, request_id, asked, subject, host)
    select p_setup, (s.card).job_id, (s.card).attempt, (s.card).losses, (s.card).failures,
           (s.card).last_token, (s.card).avoid, (s.card).avoid_until, s.token, s.task_queue_id, s.definition_id,
           (s.card).user_priority,
           case when cardinality((o.offer).sites) = 1 then (o.offer).sites[1]
                else taskqueue.site_for(d, o.offer) end,
           case when cardinality((o.offer).grid_ces) = 1 then (o.offer).grid_ces[1]
                else taskqueue.first_site((o.offer).grid_ces, d.grid_ces, '{}') end,
           resource.caller(), t.now, t.now + v_parsed.lease_time, (s.card).brokered, a.request_id, a.asked, a.subject,
           a.host
      from unnest(p_streams) s
     cross join lateral (select (p_askers[s.request]).*) a
     cross join lateral (select (p_parsed[s.request]).offer offset 0) o
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
      join resource.setup_time t on t.setup = p_setup
  )
  select array_agg((s.card).job_id) filter (where (s.card).brokered),
         array_agg(s) filter (where s.slots <> '[]'),
         array_agg(s) filter (where taskqueue.shall_deal((s.card).place, (s.card).cards, (s.card).rest))
    into v_brokered, v_limited, v_last
    from unnest(p_streams) s;
  if v_limited is not null then
    perform taskqueue.use_slots(p_setup, (s.card).job_id, s.slots) from unnest(v_limited) s;
  end if;
  if v_brokered is not null then
    perform taskqueue.mark_sent(p_setup, v_brokered);
  end if;
  if v_last is not null then
    for v_stream in
      select distinct on (s.task_queue_id) s.* from unnest(v_last) s order by s.task_queue_id, (s.card).place desc
    loop
      perform taskqueue.follow_hand(p_setup, v_stream.task_queue_id, v_stream.card, v_parsed.ten_first,
                                    v_parsed.policy);
    end loop;
  end if;
end $$;

comment on function taskqueue.lease_cards(
  text, taskqueue.parsed_description[], taskqueue.stream[], taskqueue.asker[]) is
  'Leases the jobs that streams took. p_parsed, p_askers: as for taskqueue.lease_together.';
