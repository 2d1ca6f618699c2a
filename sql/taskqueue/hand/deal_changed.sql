-- HANDS.md, When a hand is dealt: maintenance counts the changes since the hands were dealt. If the cards of the last
-- hand were taken, it deals the next ones ahead; otherwise the next match deals them, if there is one.
create or replace function taskqueue.deal_changed(p_setting taskqueue.setting, p_task_queue_ids bigint[]) returns bigint
language sql as $$
  select count(*) filter (where taskqueue.deal_hand(
           p_setting.setup, h.task_queue_id, case when h.used >= 4 then taskqueue.cards_to_deal(h.drawn) else 0 end,
           p_setting.ten_first, p_setting.policy, uuid_hash_extended(gen_random_uuid(), 0)))
    from (select t.task_queue_id, h.drawn, h.cards - l.there as used
            from unnest(p_task_queue_ids) t (task_queue_id)
           cross join lateral (select i.cards, i.drawn, i.job_ids, i.entry_ids from taskqueue.hand i
                                where i.setup = p_setting.setup and i.task_queue_id = t.task_queue_id
                                order by i.hand_id desc limit 1) h
           cross join lateral (
                  select count(*) as there
                    from unnest(h.job_ids[:h.cards], h.entry_ids[:h.cards]) c (job_id, entry_id)
                    join taskqueue.job j on j.setup = p_setting.setup and j.job_id = c.job_id
                                        and j.entry_id = c.entry_id) l
          offset 0) h
$$;

comment on function taskqueue.deal_changed(taskqueue.setting, bigint[]) is
  'Deals new hands, with exact counts, to TaskQueues that changed; returns how many.';
