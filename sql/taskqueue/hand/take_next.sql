-- HANDS.md, Taking a card: the next job of a TaskQueue, from its hand, from a new hand, or drawn without a hand. The
-- job is locked before the hand is looked at again: whoever deals anew after a change finds it locked, or makes this
-- look fail.
create or replace function taskqueue.take_next(
  p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint,
  p_may_wait boolean
) returns taskqueue.card
language plpgsql as $$
declare
  v_card taskqueue.card;
begin
  for v_turn in 0..9 loop
    select n.* into v_card from taskqueue.next_cards(p_setup, p_task_queue_id, 1) n;
    if v_card.job_id is not null then
      delete from taskqueue.job j
       where j.setup = p_setup and j.ctid = v_card.address
         and not exists (select from taskqueue.new_changes(p_setup, p_task_queue_id, v_card.known_to,
                                                           v_card.in_flight))
         and exists (select from taskqueue.hand h
                      where h.setup = p_setup and h.task_queue_id = p_task_queue_id
                        and h.begun_id is not distinct from v_card.begun_id);
      if found then
        return v_card;
      end if;
    end if;
    exit when not taskqueue.renew_hand(p_setup, p_task_queue_id, coalesce(v_card.hand_id, 0), p_ten_first, p_policy,
                                       p_may_wait);
  end loop;
  return taskqueue.draw_job(p_setup, p_task_queue_id, p_ten_first, p_policy, p_seed);
end $$;

comment on function taskqueue.take_next(text, bigint, boolean, text, bigint, boolean) is
  'Takes the next job of a TaskQueue out of waiting; without a job: there is none, or all are locked. '
  'p_may_wait: as for taskqueue.renew_hand.';
