-- HANDS.md, When a hand is dealt: what follows a match that took a card, where there is more to do than the lease. Who
-- takes a card of the second half deals the next ones, so that nobody finds the hand used up; after the last job the
-- TaskQueue goes.
create or replace function taskqueue.follow_match(
  p_setup text, p_task_queue_id bigint, p_card taskqueue.card, p_ten_first boolean, p_policy text
) returns void
language plpgsql as $$
begin
  if p_card.brokered then
    perform workload.change_status(p_setup, array[p_card.job_id], 'activated', 'sent', 'matched');
  end if;
  if taskqueue.shall_deal(p_card.place, p_card.cards, p_card.rest) then
    if p_card.rest > 0 then
      perform taskqueue.deal_hand(p_setup, p_task_queue_id, taskqueue.cards_to_deal(p_card.drawn), p_ten_first,
                                  p_policy, uuid_hash_extended(gen_random_uuid(), 0));
    else
      perform taskqueue.drop_task_queue_if_empty(p_setup, p_task_queue_id);
    end if;
    perform taskqueue.post_pending(p_setup);
  end if;
end $$;

comment on function taskqueue.follow_match(text, bigint, taskqueue.card, boolean, text) is
  'Work after a match, beside the lease: the status of a brokered job, the next hand, the end of the TaskQueue.';
