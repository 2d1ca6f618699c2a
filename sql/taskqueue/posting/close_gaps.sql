-- DRAWING.md, Posting lists. A removed TaskQueue can leave an empty position in its lists, and a draw that hits an
-- empty position is rejected. If half of a weight class is empty, the TaskQueues at its end move into the gaps.
create or replace function taskqueue.close_gaps(p_setup text, p_end timestamptz default null) returns bigint
language plpgsql as $$
declare
  v_list_id bigint;
  v_weight_class int;
  v_count int;
  v_movable bigint[];
  v_closed bigint := taskqueue.drop_empty_lists(p_setup);
begin
  for v_list_id, v_weight_class in
    select c.list_id, c.weight_class from taskqueue.sparse_classes(p_setup) c
  loop
    perform from taskqueue.posting_list l where l.setup = p_setup and l.list_id = v_list_id for update skip locked;
    continue when not found;
    select count(*)
      into v_count
      from taskqueue.posting p
     where p.setup = p_setup and p.list_id = v_list_id and p.weight_class = v_weight_class;
    -- an agent that finds one of these TaskQueues empty skips it instead of waiting for this transaction
    v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                        where q.setup = p_setup
                          and q.task_queue_id in (select p.task_queue_id from taskqueue.posting p
                                                   where p.setup = p_setup and p.list_id = v_list_id
                                                     and p.weight_class = v_weight_class and p.position > v_count)
                          for no key update skip locked);
    update taskqueue.posting p set position = g.position
      from (select i.position, row_number() over (order by i.position) as number
              from generate_series(1, v_count) i (position)
             where not exists (select from taskqueue.posting o
                                where o.setup = p_setup and o.list_id = v_list_id and o.weight_class = v_weight_class
                                  and o.position = i.position)) g
      join (select o.position, row_number() over (order by o.position) as number
              from taskqueue.posting o
             where o.setup = p_setup and o.list_id = v_list_id and o.weight_class = v_weight_class
               and o.position > v_count and o.task_queue_id = any (v_movable)) m using (number)
     where p.setup = p_setup and p.list_id = v_list_id and p.weight_class = v_weight_class and p.position = m.position;
    perform taskqueue.summarize_lists(p_setup, array[v_list_id], array[v_weight_class]);
    v_closed := v_closed + 1;
    exit when clock_timestamp() > p_end;
  end loop;
  return v_closed;
end $$;

comment on function taskqueue.close_gaps(text, timestamptz) is
  'Removes lists without a TaskQueue, and closes the gaps of lists in which half of a weight class is empty, until '
  'p_end by the clock of the server (null = all); returns how many lists changed.';
