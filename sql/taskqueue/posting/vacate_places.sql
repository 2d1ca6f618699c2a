-- A queue leaves its lists: at each of its places the last queue of the band takes over, so that no draw hits
-- an empty place. Nobody waits: a list that somebody works on, or whose last queue somebody is dropping,
-- keeps a gap until taskqueue.close_gaps. And an agent that finds a queue empty while it is being moved
-- leaves that queue for the next.
create or replace function taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) returns void
language plpgsql
as $$
declare
  v_list_ids bigint[];
  v_bands int[];
  v_places int[];
  v_movable bigint[];
begin
  v_list_ids := array(select l.list_id from taskqueue.posting_list l
                       where l.setup = p_setup
                         and l.list_id in (select p.list_id from taskqueue.posting p
                                            where p.setup = p_setup and p.task_queue_id = p_task_queue_id)
                       order by l.site, l.cpu_time
                         for update skip locked);
  with gone as (
    delete from taskqueue.posting p
     where p.setup = p_setup and p.task_queue_id = p_task_queue_id
    returning p.list_id, p.band, p.place
  )
  select array_agg(g.list_id), array_agg(g.band), array_agg(g.place)
    into v_list_ids, v_bands, v_places
    from gone g
   where g.list_id = any (v_list_ids);
  if v_list_ids is null then
    return;
  end if;
  v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                      where q.setup = p_setup
                        and q.task_queue_id in (select o.task_queue_id
                                                  from unnest(v_list_ids, v_bands) g (list_id, band)
                                                 cross join lateral (select p.task_queue_id from taskqueue.posting p
                                                                      where p.setup = p_setup and p.list_id = g.list_id
                                                                        and p.band = g.band
                                                                      order by p.place desc limit 1) o)
                        for no key update skip locked);
  update taskqueue.posting p set place = g.place
    from unnest(v_list_ids, v_bands, v_places) g (list_id, band, place)
   cross join lateral (select i.place, i.task_queue_id from taskqueue.posting i
                        where i.setup = p_setup and i.list_id = g.list_id and i.band = g.band
                        order by i.place desc limit 1) o
   where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band and p.place = o.place and o.place > g.place
     and o.task_queue_id = any (v_movable);
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
end $$;

comment on function taskqueue.vacate_places(text, bigint) is
  'Removes the postings of a queue that goes, and closes the gaps.';
