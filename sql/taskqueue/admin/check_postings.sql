-- This is the part of taskqueue.check_matching for posting lists, and for whether a TaskQueue is open.
create or replace function taskqueue.check_postings(p_setup text)
returns table (structure text, key text, expected text, found text) language sql stable as $$
  select 'posting',
         format('TaskQueue %s at %L', coalesce(w.task_queue_id, p.task_queue_id), coalesce(w.site, p.site)),
         w::text, p::text
    from (select * from taskqueue.wanted_posting i where i.setup = p_setup) w
    full join (select i.*, count(*) over (partition by i.list_id, i.task_queue_id) as times
                 from taskqueue.posted_task_queue i
                where i.setup = p_setup) p
         using (setup, site, cpu_time, weight_class, task_queue_id)
   where (w is null or p is null or p.times > 1)
     and not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = w.task_queue_id)
  union all
  select 'task_queue', format('TaskQueue %s', q.task_queue_id), 'is_open ' || not q.is_open, 'is_open ' || q.is_open
    from taskqueue.task_queue q
   where q.setup = p_setup
     and q.is_open <> exists (select from taskqueue.wanted_posting w
                               where w.setup = q.setup and w.task_queue_id = q.task_queue_id)
  union all
  select 'posting_list', format('list %s, weight class %s', p.list_id, p.weight_class),
         'within ' || coalesce(l.positions[array_position(l.weight_classes, p.weight_class)], 0),
         p.position::text
    from taskqueue.posting p
    left join taskqueue.posting_list l on l.setup = p.setup and l.list_id = p.list_id
   where p.setup = p_setup and p.position > coalesce(l.positions[array_position(l.weight_classes, p.weight_class)], 0)
  union all
  select 'posting_list', 'list ' || l.list_id,
         format('total bound %s, highest %s, positions %s', s.total_bound, s.highest_bound, s.position_count),
         format('total bound %s, highest %s, positions %s', l.total_bound, l.highest_bound, l.position_count)
    from taskqueue.posting_list l
   cross join lateral (select coalesce(sum(b.positions * taskqueue.upper_bound_of(b.weight_class)), 0) as total_bound,
                              coalesce(taskqueue.upper_bound_of(max(b.weight_class) >> 7 << 7), 0) as highest_bound,
                              coalesce(sum(b.positions), 0) as position_count
                         from unnest(l.weight_classes, l.positions) b (weight_class, positions)) s
   where l.setup = p_setup
     and (l.position_count <> s.position_count or l.highest_bound <> s.highest_bound
          or abs(l.total_bound - s.total_bound) > 1e-9 * s.total_bound
          or l.total_bound is distinct from coalesce(l.cumulative_bounds[cardinality(l.weight_classes)], 0))
$$;

comment on function taskqueue.check_postings(text) is
  'Differences between the posting lists (MATCHING.md) and the TaskQueues that they should name. No row means that '
  'everything is right.';
