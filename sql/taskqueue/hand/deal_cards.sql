-- HANDS.md, When a hand is dealt: if cards are missing for jobs that are taken together, a TaskQueue that was drawn for
-- several of them gets a hand with enough cards, if it has enough jobs. The other TaskQueues deal one by one.
create or replace function taskqueue.deal_cards(
  p_setup text, p_parsed taskqueue.parsed_description, p_streams taskqueue.stream[]
) returns boolean
language plpgsql as $$
declare
  v_dealt boolean := false;
  v_hand record;
begin
  -- plan: hands with few cards
  for v_hand in
    select q.task_queue_id, q.wanted
      from (select s.task_queue_id, count(*) as wanted, min(s.number) as first
              from unnest(p_streams) s
             group by s.task_queue_id) q
     cross join lateral (select i.* from taskqueue.hand i
                          where i.setup = p_setup and i.task_queue_id = q.task_queue_id
                          order by i.hand_id desc limit 1) h
     where q.wanted > 1
       and (exists (select from taskqueue.new_changes(p_setup, q.task_queue_id, h.known_to, h.in_flight))
            or h.rest > 0
               and q.wanted > (select count(*) from unnest(h.addresses, h.entry_ids) c (address, entry_id)
                                 join taskqueue.job j on j.ctid = c.address and j.entry_id = c.entry_id))
     order by q.first
  loop
    if taskqueue.deal_hand(p_setup, v_hand.task_queue_id, greatest(v_hand.wanted::int, 16), p_parsed.ten_first,
                           p_parsed.policy, uuid_hash_extended(gen_random_uuid(), 0)) then
      v_dealt := true;
    end if;
  end loop;
  return v_dealt;
end $$;

comment on function taskqueue.deal_cards(text, taskqueue.parsed_description, taskqueue.stream[]) is
  'Deals hands to those TaskQueues of the streams that have fewer cards than streams, or a void hand. Returns whether '
  'it dealt a hand.';
