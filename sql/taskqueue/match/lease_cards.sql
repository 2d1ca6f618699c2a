-- HANDS.md, Taking a card: the jobs of many cards, which the caller has locked. A hand is looked at again, as in
-- taskqueue.take_next; the cards of a hand that has become void stay where they are.
create or replace function taskqueue.lease_cards(
  p_setup text, p_resources jsonb[], p_known taskqueue.known_offer[], p_streams taskqueue.stream[],
  p_askers taskqueue.asker[]
) returns taskqueue.stream[]
language plpgsql as $$
declare
  v_taken taskqueue.stream[];
  v_last record;
begin
  with gone as (
    delete from taskqueue.job j
     where j.setup = p_setup
       and j.ctid = any (array(
         select (s.card).address from unnest(p_streams) s
          where not exists (select from taskqueue.new_changes(p_setup, s.task_queue_id, (s.card).known_to,
                                                              (s.card).in_flight))
            and exists (select from taskqueue.hand h
                         where h.setup = p_setup and h.task_queue_id = s.task_queue_id
                           and h.begun_id is not distinct from (s.card).begun_id)))
    returning j.job_id
  ), leased as (
    insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site,
                                 grid_ce, role_name, matched_at, expires_at, brokered, request_id, asked, subject)
    select p_setup, g.job_id, (s.card).attempt, s.token, s.task_queue_id, s.definition_id, (s.card).user_priority,
           case when cardinality(o.sites) = 1 then o.sites[1]
                else taskqueue.first_site(o.sites, d.sites, d.banned_sites) end,
           case when cardinality(o.grid_ces) = 1 then o.grid_ces[1]
                else taskqueue.first_site(o.grid_ces, d.grid_ces, '{}') end,
           resource.caller(), t.now, t.now + o.lease_time, (s.card).brokered, a.request_id,
           case when a.request_id is not null then jsonb_hash_extended(p_resources[s.request], 1) end, a.subject
      from gone g
      join unnest(p_streams) s on (s.card).job_id = g.job_id
     cross join lateral (select (p_askers[s.request]).*) a
     cross join lateral (select (k.offer).sites, (k.offer).grid_ces, k.lease_time
                            from (select (p_known[s.request]).*) k offset 0) o
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
      join resource.setup_time t on t.setup = p_setup
    returning job_id
  )
  select array_agg(s order by s.number) into v_taken
    from leased l join unnest(p_streams) s on (s.card).job_id = l.job_id;
  for v_last in
    select distinct on (s.task_queue_id) s.task_queue_id, s.card
      from unnest(v_taken) s order by s.task_queue_id, (s.card).place desc
  loop
    if taskqueue.shall_deal((v_last.card).place, (v_last.card).cards, (v_last.card).rest) then
      v_last.card.brokered := false;
      perform taskqueue.follow_match(p_setup, v_last.task_queue_id, v_last.card,
                                     (p_known[p_streams[1].request]).ten_first, (p_known[p_streams[1].request]).policy);
    end if;
  end loop;
  perform workload.change_status(p_setup, b.ids, 'activated', 'sent', 'matched')
     from (select array_agg((s.card).job_id) as ids from unnest(v_taken) s where (s.card).brokered) b
    where b.ids is not null;
  return coalesce(v_taken, '{}');
end $$;

comment on function taskqueue.lease_cards(
  text, jsonb[], taskqueue.known_offer[], taskqueue.stream[], taskqueue.asker[]) is
  'Leases the jobs of locked cards; returns the streams that got theirs. p_resources, p_known, p_askers: as for '
  'taskqueue.lease_together.';
