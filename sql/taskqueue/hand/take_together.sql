-- HANDS.md, Taking a card: the streams that drew the same TaskQueue take its cards in their order. After the first
-- stream that gets no card, no more cards are taken. Where cards are missing, hands are dealt once. A single stream is
-- left to taskqueue.take_alone, and so is a stream whose card avoids its host: the streams behind it may take this
-- card. Streams of one host skip such cards.
create or replace function taskqueue.take_together(
  p_setup text, p_parsed taskqueue.parsed_description, p_streams taskqueue.stream[],
  p_askers taskqueue.asker[], p_now timestamptz
) returns taskqueue.stream[]
language plpgsql as $$
declare
  v_left taskqueue.stream[] := p_streams;
  v_taken taskqueue.stream[] := '{}'::taskqueue.stream[];
  v_locked taskqueue.stream[];
begin
  for v_turn in 0..1 loop
    exit when cardinality(v_left) < 2;
    v_locked := array(
      -- the drawn TaskQueues come first: a join in the other direction would lock the cards again for each stream
      -- plan: cards together
      with stream as materialized (
        select i as stream, i.task_queue_id, i.number,
               row_number() over (partition by i.task_queue_id order by i.number) as turn,
               case when p_now is not null then (p_askers[i.request]).hosts end as hosts
          from unnest(v_left) i
      ), drawn as materialized (
        select q.task_queue_id, row_number() over (partition by q.task_queue_id order by c.place) as turn, c as card
          from (select i.task_queue_id, count(*) as wanted,
                       case when count(i.hosts) = count(*) and min(i.hosts) = max(i.hosts)
                            then min(i.hosts) end as hosts
                  from stream i group by i.task_queue_id) q
         cross join lateral taskqueue.next_cards(p_setup, q.task_queue_id, q.wanted, q.hosts, p_now) c
         where c.job_id is not null)
      select taskqueue.with_card(s.stream, s.card)
        from (select u.stream, d.card,
                     bool_and(d.turn is not null
                              and taskqueue.avoids((d.card).avoid, (d.card).avoid_until, u.hosts, p_now) is not true)
                       over (order by u.number) as is_served
                from stream u left join drawn d on d.task_queue_id = u.task_queue_id and d.turn = u.turn) s
       where s.is_served);
    v_locked := taskqueue.take_cards(p_setup, v_locked);
    v_taken := v_taken || v_locked;
    exit when v_turn = 1 or cardinality(v_taken) = cardinality(p_streams);
    v_left := array(select s from unnest(v_left) s
                     where s.number <> all (array(select t.number from unnest(v_locked) t)));
    exit when not taskqueue.deal_cards(p_setup, p_parsed, v_left);
  end loop;
  return v_taken;
end $$;

comment on function taskqueue.take_together(
  text, taskqueue.parsed_description, taskqueue.stream[], taskqueue.asker[], timestamptz) is
  'Takes a card for each stream that has drawn a TaskQueue; returns the streams that got one, with their cards. '
  'p_parsed holds the settings of the setup. p_askers: the callers by number of request; p_now: the time, if one of '
  'them names its host, else null.';
