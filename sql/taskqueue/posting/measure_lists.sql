-- What taskqueue.queue_point needs to know of a list beside its postings. The caller has locked the lists, so that
-- nobody appends meanwhile; a queue that goes leaves an empty place, which is right too. Only the bands named are
-- looked at: what it costs goes with the bands, not with the queues.
create or replace function taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands int[]) returns void
language sql
as $$
  with measured as (
    select b.list_id, array_agg(b.band) as bands, array_agg(b.places) as places
      from (select i.list_id, i.band, (select max(p.place) from taskqueue.posting p
                                        where p.setup = p_setup and p.list_id = i.list_id and p.band = i.band) as places
              from (select distinct u.list_id, u.band from unnest(p_list_ids, p_bands) u (list_id, band)) i) b
     group by b.list_id
  )
  update taskqueue.posting_list l
     set bands = coalesce(m.bands, '{}'), places = coalesce(m.places, '{}'), ceilings = coalesce(m.ceilings, '{}'),
         sums = coalesce(m.sums, '{}'), rate = coalesce(m.rate, 0), top = coalesce(m.top, 0), room = coalesce(m.room, 0)
    from measured i
    join taskqueue.posting_list o on o.setup = p_setup and o.list_id = i.list_id
   cross join lateral (
          select array_agg(b.band order by b.band) as bands, array_agg(b.places order by b.band) as places,
                 array_agg(b.ceiling order by b.band) as ceilings,
                 array_agg(b.sum order by b.band) as sums, max(b.sum) as rate, max(b.ceiling) as top,
                 sum(b.places) as room
            from (select n.band, n.places, n.ceiling, sum(n.places * n.ceiling) over (order by n.band) as sum
                    from (select k.band, k.places, k.ceiling
                            from unnest(o.bands, o.places, o.ceilings) k (band, places, ceiling)
                           where k.band <> all (i.bands)
                          union all
                          select c.band, c.places, taskqueue.ceiling_of_band(c.band)
                            from unnest(i.bands, i.places) c (band, places)
                           where c.places is not null) n) b) m
   where l.setup = p_setup and l.list_id = i.list_id
$$;

comment on function taskqueue.measure_lists(text, bigint[], int[]) is
  'Writes down how many places some bands of some lists have (pairs of list and band).';
