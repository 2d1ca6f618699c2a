-- DRAWING.md, Posting lists: a TaskQueue leaves its lists. The last TaskQueue of the weight class takes over each of
-- its positions, so that no draw hits an empty one. The call does not wait: if another transaction works on the list,
-- or drops that last TaskQueue, a gap stays until taskqueue.close_gaps. An agent that finds a TaskQueue empty while it
-- is moved here skips it.
create or replace function taskqueue.remove_postings(p_setup text, p_task_queue_id bigint) returns void
language plpgsql as $$
declare
  v_list_ids bigint[];
  v_weight_classes int[];
  v_positions int[];
  v_movable bigint[];
begin
  v_list_ids := array(select l.list_id from taskqueue.posting_list l
                       where l.setup = p_setup
                         and l.list_id in (select p.list_id from taskqueue.posting p
                                            where p.setup = p_setup and p.task_queue_id = p_task_queue_id)
                         for update skip locked);
  with gone as (
    delete from taskqueue.posting p
     where p.setup = p_setup and p.task_queue_id = p_task_queue_id
    returning p.list_id, p.weight_class, p.position
  )
  select array_agg(g.list_id), array_agg(g.weight_class), array_agg(g.position)
    into v_list_ids, v_weight_classes, v_positions
    from gone g
   where g.list_id = any (v_list_ids);
  if v_list_ids is null then
    return;
  end if;
  v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                      where q.setup = p_setup
                        and q.task_queue_id in (select o.task_queue_id
                                                  from unnest(v_list_ids, v_weight_classes) g (list_id, weight_class)
                                                 cross join lateral (select p.task_queue_id from taskqueue.posting p
                                                                      where p.setup = p_setup and p.list_id = g.list_id
                                                                        and p.weight_class = g.weight_class
                                                                      order by p.position desc limit 1) o)
                        for no key update skip locked);
  update taskqueue.posting p set position = g.position
    from unnest(v_list_ids, v_weight_classes, v_positions) g (list_id, weight_class, position)
   cross join lateral (select i.position, i.task_queue_id from taskqueue.posting i
                        where i.setup = p_setup and i.list_id = g.list_id and i.weight_class = g.weight_class
                        order by i.position desc limit 1) o
   where p.setup = p_setup and p.list_id = g.list_id and p.weight_class = g.weight_class and p.position = o.position
     and o.position > g.position and o.task_queue_id = any (v_movable);
  perform taskqueue.summarize_lists(p_setup, v_list_ids, v_weight_classes);
end $$;

comment on function taskqueue.remove_postings(text, bigint) is
  'Removes the postings of a TaskQueue that is being removed, and closes the gaps.';
