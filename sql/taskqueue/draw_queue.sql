-- after: taskqueue.ceiling_of_band
-- Section 5, step 2, without a key a queue. The key random()/p of a queue of priority p comes at x with the rate p/(1 - p x) when it has not come
-- before; under the policy proportional the rate is p. So the queues of some lists come in the order of their keys when points of a rate that is
-- higher are thinned out: as if every place held a queue of its band's ceiling c, and every rate were that of the highest ceiling m. The next point
-- has a law with one draw, its place is uniform over places weighed by their ceilings, and the queue there is next with the probability
-- (p/c) (1 - m x)/(1 - p x). An empty place is a queue of priority 0. A queue may come again: the first time counts.
-- What it costs goes neither with the queues nor with the bands. One statement, because each of its own costs more than what it reads.
create or replace function taskqueue.draw_queue(p_setup text, p_sites text[], p_bucket bigint, p_seed bigint, p_above float8, p_policy text)
returns table (room bigint, key float8, comes boolean, site text, task_queue_id bigint, definition taskqueue.definition)
language sql stable
rows 1
as $$
  select s.room, s.key,
         taskqueue.draw(2, p_seed) * s.ceiling < q.priority * case when p_policy = 'proportional' then 1 else (1 - s.top * s.key) / (1 - q.priority * s.key) end,
         s.site, q.task_queue_id, d
    from (select b.site, b.list_id, b.band, b.ceiling, b.room, b.top, 1 + floor((b.point - coalesce(b.below, 0)) / b.ceiling)::int as place,
                 case when p_policy = 'proportional' then p_above - ln(taskqueue.draw(0, p_seed)) / b.rate
                      else p_above + (1 / b.top - p_above) * (1 - power(1 - taskqueue.draw(0, p_seed), b.top / b.rate)) end as key
            from (select e.*, e.bands[e.entry] as band, e.sums[e.entry - 1] as below, taskqueue.ceiling_of_band(e.bands[e.entry]) as ceiling
                    from (select w.site, w.list_id, w.bands, w.sums, w.room, w.top, w.rate, w.point, 1 + width_bucket(w.point, w.sums) as entry
                            from (select l.site, l.list_id, l.bands, l.sums, l.rate as own_rate, sum(l.rate) over () as rate, max(l.top) over () as top,
                                         sum(l.room) over ()::bigint as room,
                                         taskqueue.draw(1, p_seed) * sum(l.rate) over () - (sum(l.rate) over (order by l.site) - l.rate) as point
                                    from taskqueue.posting_list l
                                   where l.setup = p_setup and l.site = any (p_sites) and l.cpu_time = p_bucket) w
                           where w.point >= 0 and w.point < w.own_rate) e) b) s
    left join taskqueue.posting p on p.setup = p_setup and p.list_id = s.list_id and p.band = s.band and p.place = s.place
    left join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.posted
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
$$;

comment on function taskqueue.draw_queue(text, text[], bigint, bigint, float8, text) is
'The next point above a key over the lists of some sites in a CPU bucket, and the queue at its place; comes = it is the next in the drawn order, if it has not come before. No row: there is no list.';
