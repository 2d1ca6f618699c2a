-- HANDS.md, Taking a card: the next cards of many hands, as taskqueue.next_card does for one. The streams of a
-- TaskQueue get its cards in their order.
create or replace function taskqueue.lock_cards(p_setup text, p_streams taskqueue.stream[]) returns taskqueue.stream[]
language plpgsql as $$
begin
  return array(
    -- drawn by TaskQueue first: a join the other way round would lock the cards anew for each stream
    with drawn as materialized (
      select q.task_queue_id, c.turn, c.card
        from (select i.task_queue_id, count(*) as wanted from unnest(p_streams) i group by i.task_queue_id) q
       cross join lateral (
              select row_number() over () as turn,
                     row(j.job_id, j.user_priority, j.attempt, j.brokered, j.entry_id, a.place, h.hand_id, h.begun_id,
                         h.cards, h.drawn, h.rest, h.known_to, h.in_flight, j.address, h.since)::taskqueue.card as card
                from (select i.* from taskqueue.hand i
                       where i.setup = p_setup and i.task_queue_id = q.task_queue_id
                       order by i.hand_id desc limit 1) h
               cross join lateral (select unnest(h.addresses) as address, unnest(h.entry_ids) as entry_id,
                                          generate_series(1, h.cards) as place) a
               cross join lateral (
                      select i.job_id, i.user_priority, i.attempts + 1 as attempt, i.brokered, i.entry_id,
                             i.ctid as address
                        from taskqueue.job i
                       where i.ctid = a.address and i.entry_id = a.entry_id
                         for update skip locked) j
               limit q.wanted) c)
    select row(s.number, s.request, s.token, s.seed, s.bucket_index, s.tries, s.last_key, s.task_queue_id,
               s.definition_id, d.card)::taskqueue.stream
      from drawn d
      join (select u.*, row_number() over (partition by u.task_queue_id order by u.number) as place
              from unnest(p_streams) u) s on s.task_queue_id = d.task_queue_id and s.place = d.turn);
end $$;

comment on function taskqueue.lock_cards(text, taskqueue.stream[]) is
  'The streams for which the hand of their TaskQueue has a card, each with its card, whose job is locked.';
