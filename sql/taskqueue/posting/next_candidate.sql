-- DRAWING.md, Next candidate: finds the candidate of the race with the smallest key above the last one, by rejection
-- sampling instead of a key per TaskQueue. The faster race treats every position as a TaskQueue of the upper bound c of
-- its weight class, with the rate of the highest upper bound m. One draw gives the next key of each list, and the
-- smallest of them wins; one more draw gives the position, in proportion to the upper bounds. The TaskQueue there is
-- accepted with the probability (p/(n c)) (1 - m x)/(1 - p x), with n its siblings, or p/(n c) under the policy
-- proportional; the place of the draw
-- within the position decides. An empty position counts as priority 0. A candidate that is rejected does not change the
-- rest of the race. Most definitions are compared with the offer here (taskqueue.accepts_at_once). If more conditions
-- have to be tested (taskqueue.tests_of), the result is null and the caller tests them. One candidate takes about ten
-- times as long as one key, which limits the number of candidates worth drawing (max_tries). The cost of a candidate
-- depends neither on the number of TaskQueues nor on the number of weight classes. The fences (offset 0) make
-- PostgreSQL compute each value once.
create or replace function taskqueue.next_candidate(
  p_setup text, p_sites text[], p_bucket bigint, p_last_key float8, p_policy text, p_seed bigint,
  p_offer taskqueue.offer, p_tests int
) returns table (
  max_tries int, key float8, is_accepted boolean, site text, task_queue_id bigint, definition taskqueue.definition
)
language sql stable rows 1 as $$
  -- plan: the next candidate
  select case when s.position_count <= 16 then 8 else greatest(100, s.position_count / 16)::int end, s.key,
         s.remainder - (s.position - 1) * s.upper_bound
         < q.priority / q.siblings * case when p_policy = 'proportional' then 1
                             else (1 - s.highest_bound * s.key) / (1 - q.priority * s.key) end
         and case when d.demands & p_tests = 0 then taskqueue.accepts_at_once(d, p_offer) end,
         s.site, q.task_queue_id, d
    from (select b.*, 1 + floor(b.remainder / b.upper_bound)::int as position
            from (select e.position_count, e.key, e.highest_bound, e.site, e.list_id,
                         e.weight_classes[e.class_index] as weight_class, e.upper_bounds[e.class_index] as upper_bound,
                         e.drawn - coalesce(e.cumulative_bounds[e.class_index - 1], 0) as remainder
                    from (select l.*, 1 + width_bucket(l.drawn, l.cumulative_bounds) as class_index
                            from (select i.position_count, i.highest_bound, i.site, i.list_id, i.weight_classes,
                                         i.cumulative_bounds, i.upper_bounds,
                                         resource.draw(-1, p_seed) * i.total_bound as drawn,
                                         case
                                           when p_policy = 'proportional'
                                           then p_last_key - ln(resource.draw(i.list_id, p_seed)) / i.total_bound
                                           else (1 - (1 - i.highest_bound * p_last_key)
                                                     * exp(greatest(ln(resource.draw(i.list_id, p_seed))
                                                                    * i.highest_bound / i.total_bound, -600)))
                                                / i.highest_bound
                                         end as key
                                    from taskqueue.posting_list i
                                   where i.setup = p_setup and i.site = any (p_sites) and i.cpu_time = p_bucket
                                     and i.position_count > 0
                                   order by key limit 1) l offset 0) e offset 0) b) s
    left join taskqueue.posting p on p.setup = p_setup and p.list_id = s.list_id
                                 and p.weight_class = s.weight_class and p.position = s.position
    left join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.is_open
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
$$;

comment on function taskqueue.next_candidate(text, text[], bigint, float8, text, bigint, taskqueue.offer, int) is
  'The next candidate above p_last_key over the lists of some sites in a CPU bucket. is_accepted: whether it is the '
  'next TaskQueue in drawn order (if it has not come before) and matches the offer; null means that the caller has to '
  'test all conditions. max_tries: the number of candidates that are worth drawing in such a list. No row means that '
  'there is no list.';
