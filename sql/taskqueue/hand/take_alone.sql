-- HANDS.md, Taking a card: takes a job for one stream that drew a TaskQueue, with the slots of limits that it needs.
-- The job is the requested one (JobID), or comes from the hand, from a new hand, or from a draw without a hand.
create or replace function taskqueue.take_alone(
  p_setup text, p_parsed taskqueue.parsed_description, p_stream taskqueue.stream, p_may_wait boolean,
  p_hosts text[], p_now timestamptz
) returns taskqueue.stream[]
language plpgsql as $$
declare
  v_none taskqueue.stream[] := '{}'::taskqueue.stream[];
  v_card taskqueue.card;
  v_taken taskqueue.stream[];
begin
  if p_stream.task_queue_id is null then
    return v_none;
  end if;
  if (p_parsed.offer).limited then
    -- plan: the requirements of a limited job
    p_stream.slots := (select l.slots from taskqueue.definition d
                        cross join lateral taskqueue.lock_slots(p_setup, d.requirements, p_parsed.offer) l
                        where d.setup = p_setup and d.definition_id = p_stream.definition_id and l.taken);
    if p_stream.slots is null then
      return v_none;
    end if;
  end if;
  if (p_parsed.offer).job_id is not null then
    p_stream.card := taskqueue.take_job(p_setup, (p_parsed.offer).job_id, p_stream.task_queue_id);
  else
    for v_turn in 0..9 loop
      exit when p_stream.is_seeded;
      -- plan: the next card
      select n.* into v_card from taskqueue.next_cards(p_setup, p_stream.task_queue_id, 1, p_hosts, p_now) n;
      if v_card.job_id is not null then
        p_stream.card := v_card;
        v_taken := taskqueue.take_cards(p_setup, array[p_stream]);
        if v_taken <> '{}' then
          return v_taken;
        end if;
      end if;
      exit when not taskqueue.renew_hand(p_setup, p_stream.task_queue_id, coalesce(v_card.hand_id, 0),
                                         p_parsed.ten_first, p_parsed.policy, p_may_wait, p_hosts, p_now);
    end loop;
    p_stream.card := taskqueue.draw_job(p_setup, p_stream.task_queue_id, p_parsed.ten_first, p_parsed.policy,
                                        p_stream.seed # 4, case when not p_stream.is_seeded then p_hosts end, p_now);
  end if;
  return case when (p_stream.card).job_id is not null then array[p_stream] else v_none end;
end $$;

comment on function taskqueue.take_alone(
  text, taskqueue.parsed_description, taskqueue.stream, boolean, text[], timestamptz) is
  'Takes a job for a stream out of waiting, and returns the stream with its card. There is no card if no TaskQueue was '
  'drawn, if all its jobs are locked or avoid one of p_hosts at p_now, or if a limit is reached. p_may_wait: as for '
  'taskqueue.renew_hand.';
