-- HANDS.md, Taking a card: the next cards of many hands. The streams of a TaskQueue get its cards in their order. The
-- cards behind the first stream that gets none stay where they are.
create or replace function taskqueue.lock_cards(p_setup text, p_streams taskqueue.stream[]) returns taskqueue.stream[]
language plpgsql as $$
begin
  return array(
    -- drawn by TaskQueue first: a join the other way round would lock the cards anew for each stream
    with drawn as materialized (
      select q.task_queue_id, row_number() over (partition by q.task_queue_id order by c.place) as turn,
             row(c.job_id, c.user_priority, c.attempt, c.brokered, c.entry_id, c.place, c.hand_id, c.begun_id, c.cards,
                 c.drawn, c.rest, c.known_to, c.in_flight, c.address, c.since)::taskqueue.card as card
        from (select i.task_queue_id, count(*) as wanted from unnest(p_streams) i group by i.task_queue_id) q
       cross join lateral taskqueue.next_cards(p_setup, q.task_queue_id, q.wanted) c
       where c.job_id is not null)
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
