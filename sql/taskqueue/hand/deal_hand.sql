-- HANDS.md, Dealing: a new hand takes the place of the old one, whose row is the dealer's lock. If only matches from
-- the hand changed the TaskQueue since it was dealt, the cards that are left come first, and new cards are drawn from
-- the other jobs. After any other change the hand is void: its cards are forgotten and all cards are drawn again,
-- without the jobs that are being taken at this moment. Nobody sees a card before it is taken, so forgetting cards
-- changes no distribution.
create or replace function taskqueue.deal_hand(
  p_setup text, p_task_queue_id bigint, p_number int, p_ten_first boolean, p_policy text, p_seed bigint
) returns boolean
language plpgsql as $$
declare
  v_hand taskqueue.hand;
  v_own boolean;
  v_void boolean;
  v_arrived boolean;
  v_struck bigint;  -- cards that were not taken from the hand
  v_busy bigint[];
begin
  -- plan: the lock of a hand
  select h.* into v_hand from taskqueue.hand h
   where h.setup = p_setup and h.task_queue_id = p_task_queue_id
   order by h.hand_id desc limit 1
     for update skip locked;
  if not found then
    return null;
  end if;
  -- plan: whether a hand is void
  select coalesce(bool_or(c.made_in = pg_current_xact_id()), false), count(*) > 0,
         coalesce(bool_or(c.change > 0), false),
         count(*) filter (where c.change < 0 and c.entry_id = any (v_hand.entry_ids))
    into v_own, v_void, v_arrived, v_struck
    from taskqueue.new_changes(p_setup, p_task_queue_id, v_hand.known_to, v_hand.in_flight) c;
  if v_own then  -- this transaction may make more changes, which a snapshot does not distinguish from earlier ones
    return false;
  end if;
  for v_try in 0..1 loop
    v_busy := v_hand.entry_ids[case when v_void then 1 else v_hand.cards + 1 end:];
    if v_busy <> '{}' then
      v_busy := taskqueue.locked_entries(p_setup, v_hand.job_ids, v_busy);
    end if;
    -- plan: the new hand
    insert into taskqueue.hand (setup, task_queue_id, begun_id, known_to, in_flight, since, jobs, first_ids, cards,
                                drawn, vain, rest, job_ids, entry_ids, user_priorities, addresses)
    select p_setup, p_task_queue_id, case when v_void then v_hand.hand_id else v_hand.begun_id end, s.known_to,
           array(select x from pg_snapshot_xip(s.snapshot) x union all select s.own where s.own < s.known_to),
           case when s.known_to::text::numeric - s.since::text::numeric < 10000 then s.since end,
           l.jobs, l.first_ids, k.cards + cardinality(d.job_ids), cardinality(d.job_ids),
           case when k.used - v_struck >= 4 then 0 when v_arrived and v_hand.drawn > 0 then least(v_hand.vain + 1, 5)
                else v_hand.vain end,
           l.total - cardinality(k.job_ids) - cardinality(d.job_ids),
           k.job_ids[:k.cards] || d.job_ids || k.job_ids[k.cards + 1:],
           k.entry_ids[:k.cards] || d.entry_ids || k.entry_ids[k.cards + 1:],
           k.user_priorities[:k.cards] || d.user_priorities || k.user_priorities[k.cards + 1:],
           k.addresses || d.addresses
      from (select pg_current_snapshot() as snapshot, pg_snapshot_xmax(pg_current_snapshot()) as known_to,
                   pg_snapshot_xmin(pg_current_snapshot()) as since, pg_current_xact_id() as own) s
     cross join taskqueue.cards_left(v_hand, v_void, v_busy) k
     cross join lateral taskqueue.levels_left(v_hand, k.gone, k.user_priorities) l
     cross join lateral taskqueue.drawn_jobs(p_setup, p_task_queue_id, l.left_jobs, l.first_ids, k.entry_ids, p_number,
                                             p_ten_first, p_policy, p_seed) d
     where v_void or not exists (
       select from taskqueue.new_changes(p_setup, p_task_queue_id, v_hand.known_to, v_hand.in_flight));
    exit when found;
    v_void := true;  -- something changed just now
  end loop;
  -- plan: the delete of the old hand
  delete from taskqueue.hand h
   where h.setup = p_setup and h.task_queue_id = p_task_queue_id and h.hand_id = v_hand.hand_id;
  return true;
end $$;

comment on function taskqueue.deal_hand(text, bigint, int, boolean, text, bigint) is
  'Gives a TaskQueue a new hand with up to p_number new cards, and exact counts. Null means that another transaction '
  'deals, or that there is no hand. False means that this transaction has already changed the TaskQueue.';
