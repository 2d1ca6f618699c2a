-- HANDS.md, When a hand is dealt: a match found no card that it could take. A deal is in vain if jobs arrive faster
-- than cards are taken, since the hand is void before it is used. In that case jobs are drawn one at a time. A hand
-- without cards counts the changes now and then, so that a draw has few of them to add up. If another transaction is
-- dealing, this call waits for its hand (HANDS.md, Beside a dealer). A hand whose cards all avoid the host is not
-- renewed.
create or replace function taskqueue.renew_hand(
  p_setup text, p_task_queue_id bigint, p_hand_id bigint, p_ten_first boolean, p_policy text,
  p_may_wait boolean, p_hosts text[] default null, p_now timestamptz default null
) returns boolean
language plpgsql as $$
declare
  v_hand record;
  v_number int;
  v_dealt boolean;
  v_ended boolean;
begin
  for v_look in 0..9 loop
    -- plan: whether there is a newer hand
    if exists (select from taskqueue.hand h
                where h.setup = p_setup and h.task_queue_id = p_task_queue_id and h.hand_id > p_hand_id) then
      return true;
    end if;
    -- plan: what became of a hand
    select h.hand_id, h.drawn, h.vain, h.rest, c.arrivals, c.removals, c.is_late, c.removals + u.used as taken,
           u.is_avoided
      into v_hand
      from (select i.* from taskqueue.hand i
             where i.setup = p_setup and i.task_queue_id = p_task_queue_id
             order by i.hand_id desc limit 1) h
     cross join lateral (
            select count(distinct n.made_in) filter (where n.change > 0)::int as arrivals,
                   count(*) filter (where n.change < 0
                                      and (n.entry_id = any (h.entry_ids)) is not true)::int as removals,
                   coalesce(bool_or(n.change = 0), false) as is_late
              from taskqueue.new_changes(p_setup, p_task_queue_id, h.known_to, h.in_flight) n) c
     cross join lateral (
            select h.cards - count(*)::int as used,
                   bool_and(taskqueue.avoids(j.avoid, j.avoid_until, p_hosts, p_now) is true) as is_avoided
              from unnest(h.job_ids[:h.cards], h.entry_ids[:h.cards]) e (job_id, entry_id)
              join taskqueue.job j on j.setup = p_setup and j.job_id = e.job_id and j.entry_id = e.entry_id) u;
    if v_hand.is_avoided and v_hand.arrivals = 0 and v_hand.removals = 0 then
      return false;
    end if;
    v_number := case when v_hand.arrivals = 0 and v_hand.removals = 0 and (v_hand.drawn > 0 or v_hand.vain = 0)
                     then case when v_hand.rest > 0 then taskqueue.cards_to_deal(v_hand.drawn) else 0 end
                     when v_hand.vain > 1 and v_hand.taken < 2 << v_hand.vain then 0
                     when v_hand.arrivals > 0 and v_hand.vain > 1 then least(v_hand.taken / v_hand.arrivals, 64)
                     else taskqueue.cards_to_deal(least(v_hand.drawn, v_hand.taken / greatest(v_hand.arrivals, 1))) end;
    if v_number < 4 and v_hand.arrivals + v_hand.taken < 100 then
      return false;
    end if;
    v_dealt := taskqueue.deal_hand(p_setup, p_task_queue_id, case when v_number < 4 then 0 else v_number end,
                                   p_ten_first, p_policy, uuid_hash_extended(gen_random_uuid(), 0));
    if v_dealt is not null or v_number < 4 then
      return v_dealt and v_number >= 4;
    end if;
    v_ended := case when p_may_wait then
                 taskqueue.await_dealer(p_setup, p_task_queue_id, v_hand.hand_id, v_hand.is_late) end;
    if not v_ended and not v_hand.is_late then  -- this was the first wait in vain: later calls wait briefly
      -- plan: a wait in vain
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
      values (p_setup, p_task_queue_id, 0, 0);
    end if;
    exit when v_ended is not true;
  end loop;
  return false;
end $$;

comment on function taskqueue.renew_hand(text, bigint, bigint, boolean, text, boolean, text[], timestamptz) is
  'Whether there is a newer hand than p_hand_id: one that another transaction has dealt, or one dealt now. False means '
  'that the job is drawn without a hand. p_may_wait: whether the transaction holds no lock for which a dealer may '
  'wait. p_hosts, p_now: the hosts of the request, and its time.';
