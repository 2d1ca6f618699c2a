-- HANDS.md, Dealing. Inlined.
create or replace function taskqueue.cards_left(p_hand taskqueue.hand, p_void boolean, p_busy bigint[])
returns table (cards bigint, used bigint, job_ids bigint[], entry_ids bigint[], user_priorities smallint[],
               addresses tid[], gone smallint[])
language sql stable rows 1 as $$
  select count(*) filter (where t.is_card),
         count(*) filter (where t.address is null and t.place <= (p_hand).cards),
         coalesce(array_agg(t.job_id order by t.place) filter (where t.is_card or t.is_busy), '{}'),
         coalesce(array_agg(t.entry_id order by t.place) filter (where t.is_card or t.is_busy), '{}'),
         coalesce(array_agg(t.user_priority order by t.place) filter (where t.is_card or t.is_busy), '{}'),
         coalesce(array_agg(t.address order by t.place) filter (where t.is_card), '{}'),
         coalesce(array_agg(t.user_priority) filter (where t.address is null), '{}')
    from (select u.*, j.ctid as address, j.job_id is not null and not p_void and u.place <= (p_hand).cards as is_card,
                 j.job_id is not null and u.entry_id = any (p_busy) as is_busy
            from unnest((p_hand).job_ids, (p_hand).entry_ids, (p_hand).user_priorities) with ordinality
                   u (job_id, entry_id, user_priority, place)
            left join taskqueue.job j on j.setup = (p_hand).setup and j.job_id = u.job_id
                                     and j.entry_id = u.entry_id) t
$$;

comment on function taskqueue.cards_left(taskqueue.hand, boolean, bigint[]) is
  'The jobs of a hand that the next hand keeps: first the cards that still wait (none if the hand is void), then jobs '
  'that are being taken (p_busy has their entries). cards: number of the jobs that are cards; used: number of cards '
  'that have gone; gone: user priorities of all jobs that have gone.';
