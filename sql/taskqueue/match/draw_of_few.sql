-- DRAWING.md, Rare matches: the first TaskQueue of the drawn order where few definitions match. They were compared with
-- the description before, whatever its CPUTime, so that a key is all that is needed; the keys are those that
-- taskqueue.drawn_task_queue draws under the same seed. CPU buckets go from the highest down until one has a TaskQueue.
create or replace function taskqueue.draw_of_few(
  p_setup text, p_known taskqueue.known_offer, p_cpu_time bigint, p_seed bigint
) returns table (task_queue_id bigint, definition_id bigint, requirements jsonb, is_accepted boolean)
language plpgsql rows 1 as $$
declare
  v_new bigint[] := '{}'::bigint[];
begin
  if exists (select from taskqueue.definition n where n.setup = p_setup and n.made_in >= p_known.known_to)
     or p_known.in_flight <> '{}' and exists (
        select from taskqueue.definition n where n.setup = p_setup and n.made_in = any (p_known.in_flight)) then
    v_new := taskqueue.new_matching(p_setup, p_known);
  end if;
  if p_known.matches = 0 and v_new = '{}' then
    return;
  end if;
  return query
    select c.task_queue_id, c.definition_id, d.requirements, true
      from (select q.task_queue_id, q.definition_id
              from (select u::bigint as cpu_time from unnest(p_known.cpu_buckets) u
                     where u <= p_cpu_time order by u::bigint desc offset 0) b
             cross join lateral (
                    select (select m.definition_ids from taskqueue.known_match m
                             where m.known_id = p_known.known_id and m.cpu_time = b.cpu_time) || v_new as ids
                    offset 0) k
             cross join lateral (
                    select i.task_queue_id, i.definition_id
                      from taskqueue.task_queue i
                     where i.setup = p_setup and i.definition_id = any (k.ids)
                       and i.cpu_time = b.cpu_time and i.is_open
                     order by taskqueue.draw_key(resource.draw(i.task_queue_id, p_seed), 1, i.priority, p_known.policy)
                     limit 1) q
             order by b.cpu_time desc
             limit 1) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id;
  if not found and p_known.matches > 0
     and not exists (select from taskqueue.known_match m where m.known_id = p_known.known_id) then  -- forgotten
    return query select null::bigint, null::bigint, null::jsonb, false;
  end if;
end $$;

comment on function taskqueue.draw_of_few(text, taskqueue.known_offer, bigint, bigint) is
  'Of the open TaskQueues of the definitions that match a description, up to a CPUTime (seconds), the first of the '
  'drawn order in the highest CPU bucket. No row: there is none. A row without a TaskQueue: what matches was forgotten '
  'meanwhile, and the TaskQueue has to be drawn in another way.';
