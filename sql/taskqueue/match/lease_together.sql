-- DRAWING.md, Guarantees of the draw: many jobs in a few statements instead of six per job. The distribution is that of
-- one after the other: the draw of a TaskQueue does not depend on the number of its jobs, so all streams draw a
-- TaskQueue first; the streams that drew the same one take its cards in their order. The first stream that gets none
-- depends on what the ones before it left: taskqueue.lease_jobs serves it alone, and the others go on behind it.
create or replace function taskqueue.lease_together(
  p_setup text, p_resources jsonb[], p_known taskqueue.known_offer[], p_streams taskqueue.stream[]
) returns table (number int, job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql as $$
declare
  v_left taskqueue.stream[] := taskqueue.draw_together(p_setup, p_known, p_streams);
  v_some taskqueue.stream[];
  v_stop int;
  v_served int[];
  v_stream taskqueue.stream;
begin
  while v_left <> '{}' loop
    -- those before the first without a TaskQueue
    v_some := array(select s from unnest(v_left) s
                     where s.number < coalesce((select min(o.number) from unnest(v_left) o
                                                 where o.task_queue_id is null), 2147483647));
    v_served := '{}';
    if cardinality(v_some) > 1 then
      perform taskqueue.deal_cards(p_setup, p_known[p_streams[1].request], v_some);
      v_some := taskqueue.lock_cards(p_setup, v_some);
      v_stop := coalesce((select min(s.number) from unnest(v_left) s
                           where s.number <> all (array(select l.number from unnest(v_some) l))), 2147483647);
      v_some := array(select s from unnest(v_some) s where s.number < v_stop);
      for v_stream in select l.* from taskqueue.lease_cards(p_setup, p_known, v_some) l order by l.number loop
        v_served := v_served || v_stream.number;
        number := v_stream.number;
        job_id := (v_stream.card).job_id;
        task_queue_id := v_stream.task_queue_id;
        requirements := (select d.requirements from taskqueue.definition d
                          where d.setup = p_setup and d.definition_id = v_stream.definition_id);
        user_priority := (v_stream.card).user_priority;
        attempt := taskqueue.attempt_text((v_stream.card).attempt, v_stream.token);
        return next;
      end loop;
      v_left := array(select s from unnest(v_left) s where s.number <> all (v_served) order by s.number);
    end if;
    if v_left <> '{}' then
      v_stream := v_left[1];
      return query
        select v_stream.number, l.*
          from taskqueue.lease_jobs(p_setup, p_resources[v_stream.request], 1, null, array[v_stream]) l;
      v_left := v_left[2:];
    end if;
  end loop;
end $$;

comment on function taskqueue.lease_together(text, jsonb[], taskqueue.known_offer[], taskqueue.stream[]) is
  'Leases a job for each stream; a stream without a row gets none. p_resources, p_known: the descriptions, by number '
  'of request.';
