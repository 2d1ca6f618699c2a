-- HANDS.md, When a hand is dealt: a match that takes a card of the second half deals the next cards, so that no match
-- finds the hand used up. After the last job the TaskQueue is removed.
create or replace function taskqueue.follow_hand(
  p_setup text, p_task_queue_id bigint, p_card taskqueue.card, p_ten_first boolean, p_policy text
) returns void
language plpgsql as $$
begin
  if p_card.rest > 0 then
    perform taskqueue.deal_hand(p_setup, p_task_queue_id, taskqueue.cards_to_deal(p_card.drawn), p_ten_first,
                                p_policy, uuid_hash_extended(gen_random_uuid(), 0));
  else
    perform taskqueue.drop_task_queue_if_empty(p_setup, p_task_queue_id);
  end if;
  perform taskqueue.post_pending(p_setup);
end $$;

comment on function taskqueue.follow_hand(text, bigint, taskqueue.card, boolean, text) is
  'Deals the next hand, or ends the TaskQueue, after a match that took one of the last cards (taskqueue.shall_deal).';
