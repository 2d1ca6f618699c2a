-- Section 5, step 2, with a key a queue, for some definitions. In the bucket where points were drawn before
-- (taskqueue.queue_point) the keys are drawn given that they are above the last point. A queue has the same key each
-- time it is asked for under a seed. The conditions are tested in the drawn order until enough hold: filtering a
-- drawn order is drawing over the filtered.
create or replace function taskqueue.drawn_queues(
  p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above float8, p_passed bigint[],
  p_policy text, p_seed bigint
) returns bigint[]
language plpgsql stable
as $$
begin
  return array(
    select c.task_queue_id
      from (select o.task_queue_id, o.definition_id, o.cpu_time,
                   taskqueue.draw_key(o.draw, 1, o.priority, p_policy, o.above) as key
              from (select q.*, resource.draw(q.task_queue_id, p_seed) as draw,
                           case when q.cpu_time = p_bucket then p_above else 0 end as above
                      from unnest(p_definition_ids) i (definition_id)
                      join taskqueue.task_queue q on q.setup = p_setup and q.definition_id = i.definition_id
                     -- a fence, else each use of the draw is a draw of its own
                     where q.posted and q.cpu_time <= p_bucket and q.task_queue_id <> all (p_passed) offset 0) o
             order by o.cpu_time desc, key offset 0) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id
     where taskqueue.accepts(d, p_offer)
     order by c.cpu_time desc, c.key
     limit 3);
end $$;

comment on function taskqueue.drawn_queues(text, taskqueue.offer, bigint[], bigint, float8, bigint[], text, bigint) is
  'The next three queues that match an offer, in drawn order, of some definitions, those passed left out; p_bucket, '
  'p_above: where to go on.';
