-- DRAWING.md, Guarantees of the draw: the leases of jobs that were taken, and what follows.
create or replace function taskqueue.lease_cards(
  p_setup text, p_known taskqueue.known_offer[], p_streams taskqueue.stream[], p_askers taskqueue.asker[]
) returns void
language plpgsql as $$
declare
  v_known taskqueue.known_offer := p_known[p_streams[1].request];
  v_last record;
begin
  insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site,
                               grid_ce, role_name, matched_at, expires_at, brokered, request_id, asked, subject)
  select p_setup, (s.card).job_id, (s.card).attempt, s.token, s.task_queue_id, s.definition_id, (s.card).user_priority,
         case when cardinality(o.sites) = 1 then o.sites[1]
              else taskqueue.first_site(o.sites, d.sites, d.banned_sites) end,
         case when cardinality(o.grid_ces) = 1 then o.grid_ces[1]
              else taskqueue.first_site(o.grid_ces, d.grid_ces, '{}') end,
         resource.caller(), t.now, t.now + v_known.lease_time, (s.card).brokered, a.request_id, a.asked, a.subject
    from unnest(p_streams) s
   cross join lateral (select (p_askers[s.request]).*) a
   cross join lateral (select (k.offer).sites, (k.offer).grid_ces
                         from (select (p_known[s.request]).*) k offset 0) o
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
    join resource.setup_time t on t.setup = p_setup;
  perform taskqueue.use_slots(p_setup, (s.card).job_id, s.slots) from unnest(p_streams) s where s.slots <> '[]';
  perform taskqueue.mark_sent(p_setup, b.job_ids)
     from (select array_agg((s.card).job_id) as job_ids from unnest(p_streams) s where (s.card).brokered) b
    where b.job_ids is not null;
  for v_last in
    select distinct on (s.task_queue_id) s.task_queue_id, s.card
      from unnest(p_streams) s order by s.task_queue_id, (s.card).place desc
  loop
    if taskqueue.shall_deal((v_last.card).place, (v_last.card).cards, (v_last.card).rest) then
      perform taskqueue.follow_hand(p_setup, v_last.task_queue_id, v_last.card, v_known.ten_first, v_known.policy);
    end if;
  end loop;
end $$;

comment on function taskqueue.lease_cards(text, taskqueue.known_offer[], taskqueue.stream[], taskqueue.asker[]) is
  'Leases the jobs that streams took. p_known, p_askers: as for taskqueue.lease_together.';
