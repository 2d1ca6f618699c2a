-- Hands as after a long run: each with 1 to 64 cards. Otherwise every first match of a short run would deal a hand, and
-- most cards would never be used.
select count(taskqueue.deal_hand('bench', h.task_queue_id, 1 + floor(random() * 64)::int, s.ten_first, s.policy, (random() * 1e15)::bigint))
  from taskqueue.hand h join taskqueue.setting s using (setup) where h.setup = 'bench' and h.cards = 0;
