-- HANDS.md, Taking a card: the next cards of many hands, as taskqueue.next_card does for one. The streams of a
-- TaskQueue get its cards in their order. The cards behind the first stream that gets none stay where they are.
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
               s.definition_id, s.card)::taskqueue.stream
      from (select u.number, u.request, u.token, u.seed, u.bucket_index, u.tries, u.last_key, u.task_queue_id,
                   u.definition_id, d.card, bool_and(d.turn is not null) over (order by u.number) as is_served
              from (select i.*, row_number() over (partition by i.task_queue_id order by i.number) as turn
                      from unnest(p_streams) i) u
              left join drawn d on d.task_queue_id = u.task_queue_id and d.turn = u.turn) s
     where s.is_served);
end $$;

comment on function taskqueue.lock_cards(text, taskqueue.stream[]) is
  'The streams before the first for which the hand of its TaskQueue has no card, each with its card, whose job is '
  'locked.';
