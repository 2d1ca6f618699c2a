-- DRAWING.md, Rare matches: after many rejected candidates (taskqueue.next_candidate), each TaskQueue in the rest of
-- the bucket gets a key. The keys are drawn under the condition that they lie above the last key. With one seed a
-- TaskQueue has the same key in every call. The conditions are tested in the drawn order until a TaskQueue matches:
-- filtering a drawn order is drawing from the filtered set.
create or replace function taskqueue.draw_rest(
  p_setup text, p_offer taskqueue.offer, p_bucket bigint, p_last_key float8, p_passed bigint[], p_policy text,
  p_seed bigint
) returns table (task_queue_id bigint, definition_id bigint)
language plpgsql stable rows 1 as $$
begin
  -- plan: the rest of a bucket
  return query
    select c.task_queue_id, c.definition_id
      from (select o.task_queue_id, o.definition_id,
                   taskqueue.draw_key(o.draw, 1::float8 / o.siblings, o.priority, p_policy, p_last_key) as key
              from (select q.task_queue_id, q.definition_id, q.priority, q.siblings,
                           resource.draw(q.task_queue_id, p_seed) as draw
                      from taskqueue.task_queue q
                     where q.setup = p_setup and q.task_queue_id = any (array(
                           select p.task_queue_id from taskqueue.posted_task_queue p
                            where p.setup = p_setup and p.site = any (taskqueue.listed_sites(p_offer))
                              and p.cpu_time = p_bucket))
                       -- a fence, since otherwise each use of the draw would draw again
                       and q.is_open and q.task_queue_id <> all (p_passed) offset 0) o
             order by key offset 0) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id
     where taskqueue.accepts(d, p_offer)
     order by c.key
     limit 1;
end $$;

comment on function taskqueue.draw_rest(text, taskqueue.offer, bigint, float8, bigint[], text, bigint) is
  'The next TaskQueue of a CPU bucket (seconds) that matches an offer, in drawn order above p_last_key and without '
  'p_passed. No row means that there is none.';
