-- HANDS.md, When a hand is dealt: a match found no card that it could take. A deal is in vain where jobs arrive faster
-- than cards are taken, since the hand is void before it is used. Then jobs are drawn one at a time. A match that draws
-- so beside a dealer makes the new hand void, too; therefore the match looks again a few times, which takes about as
-- long as a deal. It does not sleep: pg_sleep goes by the clock of the machine, which can be put back.
create or replace function taskqueue.renew_hand(
  p_setup text, p_task_queue_id bigint, p_hand_id bigint, p_ten_first boolean, p_policy text
) returns boolean
language plpgsql as $$
declare
  v_hand record;
  v_number int;
  v_dealt boolean;
begin
  for v_look in 0..9 loop
    select h.hand_id, h.drawn, h.rest, c.arrivals, c.removals,
           h.cards - (select count(*) from unnest(h.job_ids[:h.cards], h.entry_ids[:h.cards]) e (job_id, entry_id)
                        join taskqueue.job j on j.setup = p_setup and j.job_id = e.job_id
                                            and j.entry_id = e.entry_id) as used
      into v_hand
      from (select i.* from taskqueue.hand i
             where i.setup = p_setup and i.task_queue_id = p_task_queue_id
             order by i.hand_id desc limit 1) h
     cross join lateral (
            select count(distinct n.made_in) filter (where n.change > 0) as arrivals,
                   count(*) filter (where n.change < 0 and (n.entry_id = any (h.entry_ids)) is not true) as removals
              from taskqueue.new_changes(p_setup, p_task_queue_id, h.known_to, h.in_flight) n) c;
    if v_hand.hand_id > p_hand_id then
      return true;
    end if;
    v_number := case when v_hand.arrivals > 0 and v_hand.drawn > 0
                     then least((v_hand.used + v_hand.removals) / v_hand.arrivals, 64)
                     when v_hand.arrivals > 0 or v_hand.removals > 0 then taskqueue.cards_to_deal(0)
                     when v_hand.rest > 0 then taskqueue.cards_to_deal(v_hand.drawn)
                     else 0 end;
    if v_number < 4 then
      return false;
    end if;
    v_dealt := taskqueue.deal_hand(p_setup, p_task_queue_id, v_number, p_ten_first, p_policy,
                                   uuid_hash_extended(gen_random_uuid(), 0));
    if v_dealt is not null then
      return v_dealt;
    end if;
  end loop;
  return false;
end $$;

comment on function taskqueue.renew_hand(text, bigint, bigint, boolean, text) is
  'Whether there is another hand to look at than p_hand_id: one that somebody dealt meanwhile, or one dealt now. '
  'False: draw without a hand. Looks up to ten times where another transaction deals.';
