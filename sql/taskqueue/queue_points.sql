-- after: taskqueue.ceiling_of_band
-- Section 5, step 2, without a key a queue. The key random()/p of a queue of priority p comes at x with the rate p/(1 - p x) when it has not come
-- before; under the policy proportional the rate is p. So the queues of some lists come in the order of their keys when points of a rate that is
-- higher are thinned out: as if every place held a queue of its band's ceiling c, and every rate were that of the highest ceiling m. The points
-- have a law with one draw each, the place is uniform over places weighed by their ceilings, and the queue there comes with the probability
-- (p/c) (1 - m x)/(1 - p x). An empty place is a queue of priority 0. A queue may come again: the first time counts.
-- What a point costs goes neither with the queues nor with the bands. A query with a limit computes no more points than it takes.
create or replace function taskqueue.queue_points(p_setup text, p_sites text[], p_bucket bigint, p_seed bigint, p_policy text, p_points int)
returns table (number int, room bigint, key float8, comes boolean, site text, task_queue_id bigint, definition_id bigint)
language sql stable
rows 1
as $$
  select s.number, s.room, s.key,
         taskqueue.draw(s.number, p_seed # 3) * s.ceiling < q.priority * case when p_policy = 'proportional' then 1 else (1 - s.top * s.key) / (1 - q.priority * s.key) end,
         s.site, q.task_queue_id, q.definition_id
    from (select b.number, b.room, b.site, b.list_id, b.band, b.ceiling, b.top, 1 + floor((b.point - coalesce(b.below, 0)) / b.ceiling)::int as place,
                 case when p_policy = 'proportional' then - b.logs / b.rate else (1 - exp(b.logs * b.top / b.rate)) / b.top end as key
            from (select e.*, e.bands[e.entry] as band, e.sums[e.entry - 1] as below, taskqueue.ceiling_of_band(e.bands[e.entry]) as ceiling
                    from (select n.number, n.logs, w.site, w.list_id, w.bands, w.sums, w.room, w.top, w.rate, n.share * w.rate - w.before as point,
                                 1 + width_bucket(n.share * w.rate - w.before, w.sums) as entry
                            from (select i as number, sum(ln(taskqueue.draw(i, p_seed # 1))) over (order by i) as logs, taskqueue.draw(i, p_seed # 2) as share
                                    from generate_series(1, p_points) i) n
                            join (select l.site, l.list_id, l.bands, l.sums, l.rate as own_rate, sum(l.rate) over () as rate, max(l.top) over () as top,
                                         sum(l.room) over ()::bigint as room, sum(l.rate) over (order by l.site) - l.rate as before
                                    from taskqueue.posting_list l
                                   where l.setup = p_setup and l.site = any (p_sites) and l.cpu_time = p_bucket and l.room > 0) w
                              on n.share * w.rate >= w.before and n.share * w.rate < w.before + w.own_rate
                           order by n.number) e) b) s
    left join taskqueue.posting p on p.setup = p_setup and p.list_id = s.list_id and p.band = s.band and p.place = s.place
    left join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.posted
   order by s.number
$$;

comment on function taskqueue.queue_points(text, text[], bigint, bigint, text, int) is
'Points over the lists of some sites in a CPU bucket, in the order of their keys, and the queue at the place of each; comes = it is the next in the drawn order, if it has not come before. No row: there is no list.';
