-- Section 5, step 2, without a key a queue. The key random()/p of a queue of priority p comes at x with the rate
-- p/(1 - p x) when it has not come before; under the policy proportional the rate is p. So the queues of a list
-- come in the order of their keys when points of a rate that is higher are thinned out: as if every place held a
-- queue of its band's ceiling c, and every rate were that of the highest ceiling m. Each list has its next point by
-- one draw, and the first of them is the next of all; the place is uniform over places weighed by their ceilings,
-- and the queue there comes with the probability (p/c) (1 - m x)/(1 - p x): where within its place the point lies
-- is a draw, too. An empty place is a queue of priority 0. Points have no memory: from one that was passed over the
-- draw goes on as if it began there.
-- Most definitions are compared with the offer here; where more is to be tested (taskqueue.tests_of), the caller
-- looks more closely: to start up all conditions costs 25 us.
-- When points were in vain so often that a key a queue costs no more, they are enough: a point takes
-- some ten times as long as a queue.
-- What a point costs goes neither with the queues nor with the bands. The fences (offset 0) spare looking into the
-- arrays again for each use of what was found.
create or replace function taskqueue.queue_point(
  p_setup text, p_sites text[], p_bucket bigint, p_above float8, p_policy text, p_seed bigint, p_offer taskqueue.offer,
  p_tests int
) returns table (enough int, key float8, fits boolean, site text, task_queue_id bigint, definition taskqueue.definition)
language sql stable
rows 1
as $$
  select case when s.room <= 16 then 8 else greatest(100, s.room / 16)::int end, s.key,
         s.rest - (s.place - 1) * s.ceiling < q.priority * case when p_policy = 'proportional' then 1
                                                                else (1 - s.top * s.key) / (1 - q.priority * s.key) end
         and case when d.demands & p_tests = 0
                  then p_sites[1] <> all (d.banned_sites)
                       and (p_offer.platforms is null or cardinality(d.platforms) = 0
                            or d.platforms && p_offer.platforms)
                       and (p_offer.tags is null or d.tags <@ p_offer.tags)
                       and taskqueue.accepts_owner(d, p_offer)
             end,
         s.site, q.task_queue_id, d
    from (select b.*, 1 + floor(b.rest / b.ceiling)::int as place
            from (select e.room, e.key, e.top, e.site, e.list_id, e.bands[e.entry] as band,
                         e.point - coalesce(e.sums[e.entry - 1], 0) as rest, e.ceilings[e.entry] as ceiling
                    from (select l.*, 1 + width_bucket(l.point, l.sums) as entry
                            from (select i.room, i.top, i.site, i.list_id, i.bands, i.sums, i.ceilings,
                                         resource.draw(-1, p_seed) * i.rate as point,
                                         case when p_policy = 'proportional'
                                              then p_above - ln(resource.draw(i.list_id, p_seed)) / i.rate
                                              else (1 - (1 - i.top * p_above) * power(resource.draw(i.list_id, p_seed),
                                                                                      i.top / i.rate))
                                                   / i.top end as key
                                    from taskqueue.posting_list i
                                   where i.setup = p_setup and i.site = any (p_sites) and i.cpu_time = p_bucket
                                     and i.room > 0
                                   order by key limit 1) l offset 0) e offset 0) b) s
    left join taskqueue.posting p on p.setup = p_setup and p.list_id = s.list_id and p.band = s.band
                                 and p.place = s.place
    left join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.posted
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
$$;

comment on function taskqueue.queue_point(text, text[], bigint, float8, text, bigint, taskqueue.offer, int) is
  'The next point above a key over the lists of some sites in a CPU bucket, and the queue at its place; '
  'fits = it is the next in the drawn order, if it has not come before, and matches the offer; null: to be looked at '
  'more closely. enough = the points that are worth drawing in such a list. No row: there is no list.';
