-- DRAWING.md, Posting lists.
create or replace function taskqueue.sparse_classes(p_setup text) returns table (list_id bigint, weight_class int)
language sql stable as $$
  select l.list_id, b.weight_class
    from taskqueue.posting_list l
   cross join lateral unnest(l.weight_classes, l.positions) b (weight_class, positions)
    left join (select p.list_id, p.weight_class, count(*) as task_queues
                 from taskqueue.posting p
                where p.setup = p_setup
                group by p.list_id, p.weight_class) n
           on n.list_id = l.list_id and n.weight_class = b.weight_class
   where l.setup = p_setup and b.positions >= 2 * coalesce(n.task_queues, 0)
   order by l.site, l.cpu_time
$$;

comment on function taskqueue.sparse_classes(text) is
  'Weight classes of posting lists of which half the positions are empty, in the order of the keys of their lists.';
