-- DRAWING.md, Posting lists: taskqueue.next_candidate reads this summary of a list. The caller has locked the lists, so
-- that no other transaction appends to them. A TaskQueue that is removed at the same time leaves an empty position,
-- which is also correct. Only the named weight classes are counted again, so the cost depends on their number, not on
-- the number of TaskQueues.
create or replace function taskqueue.summarize_lists(
  p_setup text, p_list_ids bigint[], p_weight_classes int[]
) returns void
language sql as $$
  with measured as (
    select b.list_id, array_agg(b.weight_class) as weight_classes, array_agg(b.positions) as positions
      from (select i.list_id, i.weight_class,
                   (select max(p.position)
                      from taskqueue.posting p
                     where p.setup = p_setup and p.list_id = i.list_id
                       and p.weight_class = i.weight_class) as positions
              from (select distinct u.list_id, u.weight_class
                      from unnest(p_list_ids, p_weight_classes) u (list_id, weight_class)) i) b
     group by b.list_id
  )
  update taskqueue.posting_list l
     set weight_classes = coalesce(m.weight_classes, '{}'), positions = coalesce(m.positions, '{}'),
         upper_bounds = coalesce(m.upper_bounds, '{}'), cumulative_bounds = coalesce(m.cumulative_bounds, '{}'),
         total_bound = coalesce(m.total_bound, 0), highest_bound = coalesce(m.highest_bound, 0),
         position_count = coalesce(m.position_count, 0)
    from measured i
    join taskqueue.posting_list o on o.setup = p_setup and o.list_id = i.list_id
   cross join lateral (
          select array_agg(b.weight_class order by b.weight_class) as weight_classes,
                 array_agg(b.positions order by b.weight_class) as positions,
                 array_agg(b.upper_bound order by b.weight_class) as upper_bounds,
                 array_agg(b.cumulative_bound order by b.weight_class) as cumulative_bounds,
                 max(b.cumulative_bound) as total_bound,
                 taskqueue.upper_bound_of(max(b.weight_class) >> 7 << 7) as highest_bound,
                 sum(b.positions) as position_count
            from (select n.weight_class, n.positions, n.upper_bound,
                         sum(n.positions * n.upper_bound) over (order by n.weight_class) as cumulative_bound
                    from (select k.weight_class, k.positions, k.upper_bound
                            from unnest(o.weight_classes, o.positions, o.upper_bounds)
                                 k (weight_class, positions, upper_bound)
                           where k.weight_class <> all (i.weight_classes)
                          union all
                          select c.weight_class, c.positions, taskqueue.upper_bound_of(c.weight_class)
                            from unnest(i.weight_classes, i.positions) c (weight_class, positions)
                           where c.positions is not null) n) b) m
   where l.setup = p_setup and l.list_id = i.list_id
$$;

comment on function taskqueue.summarize_lists(text, bigint[], int[]) is
  'Writes the number of positions, the upper bounds and their sums of the named weight classes into their lists (pairs '
  'of list and weight class).';
