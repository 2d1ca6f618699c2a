-- DRAWING.md, Rare matches: a key per TaskQueue, for some definitions. In the bucket where candidates were drawn
-- before (taskqueue.next_candidate) the keys are drawn given that they lie above the last key. Under one seed a
-- TaskQueue has the same key in every call. The conditions are tested in the drawn order until a TaskQueue
-- matches: filtering a drawn order is drawing from the filtered set.
create or replace function taskqueue.drawn_task_queue(
  p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_last_key float8,
  p_passed bigint[], p_policy text, p_seed bigint
) returns bigint
language plpgsql stable as $$
begin
  return (
    select c.task_queue_id
      from (select o.task_queue_id, o.definition_id, o.cpu_time,
                   taskqueue.draw_key(o.draw, 1, o.priority, p_policy, o.last_key) as key
              from (select q.*, resource.draw(q.task_queue_id, p_seed) as draw,
                           case when q.cpu_time = p_bucket then p_last_key else 0 end as last_key
                      from unnest(p_definition_ids) i (definition_id)
                      join taskqueue.task_queue q on q.setup = p_setup and q.definition_id = i.definition_id
                     -- a fence, else each use of the draw would draw again
                     where q.is_open and q.cpu_time <= p_bucket and q.task_queue_id <> all (p_passed) offset 0) o
             order by o.cpu_time desc, key offset 0) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id
     where taskqueue.accepts(d, p_offer)
     order by c.cpu_time desc, c.key
     limit 1);
end $$;

comment on function taskqueue.drawn_task_queue(
  text, taskqueue.offer, bigint[], bigint, float8, bigint[], text, bigint) is
  'The next TaskQueue of some definitions that matches an offer, in drawn order and without p_passed; p_bucket '
  'and p_last_key are where the draw continues.';
