-- HANDS.md, Taking a card: the first cards of the hand whose jobs still wait and are not locked. They are locked now,
-- and taken after the hand is checked again. The function is declared stable although it locks, because PostgreSQL
-- inlines no volatile function. Where PostgreSQL cannot inline a call, it refuses the lock with an error.
create or replace function taskqueue.next_cards(
  p_setup text, p_task_queue_id bigint, p_number bigint, p_hosts text[] default null, p_now timestamptz default null
) returns setof taskqueue.card
language sql stable rows 1 as $$
  select c.job_id, c.user_priority, c.attempt, c.losses, c.failures, c.last_token, c.avoid, c.avoid_until, c.brokered,
         c.entry_id, c.place, h.hand_id, h.begun_id, h.cards, h.drawn, h.rest, h.known_to, h.in_flight, c.address,
         h.since
    from (select i.* from taskqueue.hand i
           where i.setup = p_setup and i.task_queue_id = p_task_queue_id
           order by i.hand_id desc limit 1) h
    left join lateral (
         select j.*, a.place
           from (select unnest(h.addresses) as address, unnest(h.entry_ids) as entry_id,
                        generate_series(1, h.cards) as place) a
          cross join lateral (
                 select i.job_id, i.user_priority, i.attempts + 1 as attempt, i.losses, i.failures, i.last_token,
                        i.avoid, i.avoid_until, i.brokered, i.entry_id, i.ctid as address
                   from taskqueue.job i
                  where i.ctid = a.address and i.entry_id = a.entry_id
                    and taskqueue.avoids(i.avoid, i.avoid_until, p_hosts, p_now) is not true
                    for update skip locked) j
          limit p_number) c on true
$$;

comment on function taskqueue.next_cards(text, bigint, bigint, text[], timestamptz) is
  'The next cards of the hand of a TaskQueue, at most p_number, with their jobs locked. Jobs that avoid one of p_hosts '
  'at p_now are left out. One row without a job means that there is no card to take.';
