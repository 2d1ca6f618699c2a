-- A queue that goes leaves its place in each of its lists empty, and a draw that hits an empty place was in vain.
-- Where half of a band is empty, the queues at its end move into the gaps.
create or replace function taskqueue.close_gaps(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_list_id bigint;
  v_band int;
  v_count int;
  v_movable bigint[];
  v_closed bigint := 0;
begin
  v_closed := taskqueue.drop_empty_lists(p_setup, array(
    select l.list_id from taskqueue.posting_list l
     where l.setup = p_setup
       and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)));
  for v_list_id, v_band in
    select l.list_id, b.band
      from taskqueue.posting_list l
     cross join lateral unnest(l.bands, l.places) b (band, places)
      left join (select p.list_id, p.band, count(*) as queues
                   from taskqueue.posting p
                  where p.setup = p_setup
                  group by p.list_id, p.band) n
             on n.list_id = l.list_id and n.band = b.band
     where l.setup = p_setup and b.places >= 2 * coalesce(n.queues, 0)
     order by l.site, l.cpu_time
  loop
    perform from taskqueue.posting_list l where l.setup = p_setup and l.list_id = v_list_id for update skip locked;
    continue when not found;
    select count(*)
      into v_count
      from taskqueue.posting p
     where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band;
    -- an agent that finds one of these queues empty leaves it, instead of waiting for this transaction
    v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                        where q.setup = p_setup
                          and q.task_queue_id in (select p.task_queue_id from taskqueue.posting p
                                                   where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band
                                                     and p.place > v_count)
                          for no key update skip locked);
    update taskqueue.posting p set place = g.place
      from (select i.place, row_number() over (order by i.place) as number
              from generate_series(1, v_count) i (place)
             where not exists (select from taskqueue.posting o
                                where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band
                                  and o.place = i.place)) g
      join (select o.place, row_number() over (order by o.place) as number
              from taskqueue.posting o
             where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place > v_count
               and o.task_queue_id = any (v_movable)) m using (number)
     where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place = m.place;
    perform taskqueue.measure_lists(p_setup, array[v_list_id], array[v_band]);
    v_closed := v_closed + 1;
  end loop;
  return v_closed;
end $$;

comment on function taskqueue.close_gaps(text) is
  'Closes the gaps of lists where half of a band is empty, and removes lists without a queue; '
  'returns how many were changed.';
