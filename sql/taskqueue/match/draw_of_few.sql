-- DRAWING.md, Rare matches: the first TaskQueue of the drawn order where few definitions match. They were compared with
-- the description before, whatever its CPUTime, so that a key is all that is needed; the keys are those that
-- taskqueue.drawn_task_queue draws under the same seed.
create or replace function taskqueue.draw_of_few(
  p_setup text, p_definition_ids bigint[], p_known_to xid8, p_in_flight xid8[], p_cpu_time bigint, p_policy text,
  p_seed bigint
) returns table (task_queue_id bigint, definition_id bigint, requirements jsonb, is_accepted boolean)
language plpgsql stable rows 1 as $$
begin
  if exists (select from taskqueue.definition n where n.setup = p_setup and n.made_in >= p_known_to)
     or p_in_flight <> '{}' and exists (
        select from taskqueue.definition n where n.setup = p_setup and n.made_in = any (p_in_flight)) then
    return query select null::bigint, null::bigint, null::jsonb, false;
  else
    return query
      select c.task_queue_id, c.definition_id, d.requirements, true
        from (select q.task_queue_id, q.definition_id
                from taskqueue.task_queue q
               where q.setup = p_setup and q.definition_id = any (p_definition_ids) and q.is_open
                 and q.cpu_time <= p_cpu_time
               order by q.cpu_time desc,
                        taskqueue.draw_key(resource.draw(q.task_queue_id, p_seed), 1, q.priority, p_policy)
               limit 1) c
        join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id;
  end if;
end $$;

comment on function taskqueue.draw_of_few(text, bigint[], xid8, xid8[], bigint, text, bigint) is
  'Of the open TaskQueues of some definitions up to a CPUTime (seconds), the first of the drawn order in the highest '
  'CPU bucket. A row without a TaskQueue: definitions were made since p_known_to or in p_in_flight, and have to be '
  'compared first. No row: there is none.';
