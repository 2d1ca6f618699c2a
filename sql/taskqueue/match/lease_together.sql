-- DRAWING.md, Guarantees of the draw: many jobs in a few statements instead of six per job. The distribution is that of
-- one after the other: the draw of a TaskQueue does not depend on the number of its jobs, so all streams draw a
-- TaskQueue first; the streams that drew the same one take its cards in their order. The first stream that gets none
-- depends on what the ones before it left: taskqueue.lease_jobs serves it alone, and the others go on behind it.
create or replace function taskqueue.lease_together(
  p_setup text, p_resources jsonb[], p_known taskqueue.known_offer[], p_streams taskqueue.stream[],
  p_askers taskqueue.asker[]
) returns table (number int, job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql as $$
declare
  v_left taskqueue.stream[] := taskqueue.draw_together(p_setup, p_known, p_streams);
  v_first taskqueue.stream;  -- the first that has no TaskQueue, or whose hand has no card
  v_some taskqueue.stream[];
  v_locked taskqueue.stream[];
begin
  while v_left <> '{}' loop
    v_some := array(select s from unnest(v_left) s
                     where s.number < coalesce((select min(o.number) from unnest(v_left) o
                                                 where o.task_queue_id is null), 2147483647));
    if cardinality(v_some) > 1 then
      v_locked := taskqueue.lock_cards(p_setup, v_some);
      if cardinality(v_locked) < cardinality(v_some)
         and taskqueue.deal_cards(p_setup, p_known[p_streams[1].request], v_some) then
        v_locked := taskqueue.lock_cards(p_setup, v_some);
      end if;
      v_some := taskqueue.lease_cards(p_setup, p_resources, p_known, v_locked, p_askers);
      return query
        select s.number, (s.card).job_id, s.task_queue_id, d.requirements, (s.card).user_priority::int,
               taskqueue.attempt_text((s.card).attempt, s.token)
          from unnest(v_some) s
          join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
         order by s.number;
      v_left := array(select s from unnest(v_left) s
                       where s.number <> all (array(select o.number from unnest(v_some) o)) order by s.number);
    end if;
    if v_left <> '{}' then
      v_first := v_left[1];
      return query
        select v_first.number, l.*
          from taskqueue.lease_jobs(p_setup, p_resources[v_first.request], 1, null, array[v_first],
                                    p_askers[v_first.request], p_known[v_first.request]) l;
      -- lease_jobs has tried all that matches, so the other jobs of the request get nothing either
      v_left := case when found then v_left[2:]
                     else array(select s from unnest(v_left) s where s.request <> v_first.request) end;
    end if;
  end loop;
end $$;

comment on function taskqueue.lease_together(text, jsonb[], taskqueue.known_offer[], taskqueue.stream[],
                                               taskqueue.asker[]) is
  'Leases a job for each stream; a stream without a row gets none. p_resources, p_known, p_askers: the descriptions, '
  'and who asks, by number of request.';
