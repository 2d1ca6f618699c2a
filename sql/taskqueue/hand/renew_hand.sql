-- HANDS.md, When a hand is dealt: a match found no card that it could take. Where jobs arrive all the time, hands are
-- void before they are used; then a deal would be in vain, and jobs are drawn one at a time. One match in sixteen deals
-- all the same, a small hand whose use shows whether larger ones pay.
create or replace function taskqueue.renew_hand(
  p_setup text, p_task_queue_id bigint, p_hand_id bigint, p_ten_first boolean, p_policy text, p_seed bigint
) returns boolean
language plpgsql as $$
declare
  v_hand record;
  v_number int;
begin
  select h.hand_id, h.cards, h.drawn, h.rest,
         exists (select from taskqueue.new_changes(p_setup, p_task_queue_id, h.known_to, h.in_flight)) as void,
         h.cards - (select count(*) from unnest(h.job_ids[:h.cards], h.entry_ids[:h.cards]) c (job_id, entry_id)
                      join taskqueue.job j on j.setup = p_setup and j.job_id = c.job_id
                                          and j.entry_id = c.entry_id) as used
    into v_hand
    from taskqueue.hand h
   where h.setup = p_setup and h.task_queue_id = p_task_queue_id
   order by h.hand_id desc limit 1;
  if v_hand.hand_id > p_hand_id then
    return true;
  end if;
  v_number := case when not v_hand.void and v_hand.rest = 0 then 0
                   when not v_hand.void or v_hand.cards = 0 then least(greatest(2 * v_hand.drawn, 16), 32)
                   when v_hand.used >= 4 then least(v_hand.used, 32)
                   when p_seed & 15 = 0 then 4
                   else 0 end;
  return v_number > 0
         and taskqueue.deal_hand(p_setup, p_task_queue_id, v_number, p_ten_first, p_policy,
                                 uuid_hash_extended(gen_random_uuid(), 0));
end $$;

comment on function taskqueue.renew_hand(text, bigint, bigint, boolean, text, bigint) is
  'Whether there is another hand to look at than p_hand_id: one that somebody dealt meanwhile, or one dealt now. '
  'False: draw without a hand.';
