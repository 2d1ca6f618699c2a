-- ARCHITECTURE.md, Hot rows: the rows of each owner become one. One transaction inserts the new row and deletes the old
-- ones, so the sums stay the same, even if it rolls back. Rows that another transaction folds are skipped, so no
-- transaction waits.
create or replace function taskqueue.fold_weights(p_setup text, p_group text) returns void
language sql as $$
  with gone as (
    delete from taskqueue.owner_weight d where d.ctid = any (array(
      select w.ctid from taskqueue.owner_weight w
       where w.setup = p_setup and w.owner_group = p_group
         and (w.owner_dn, w.light) in (select m.owner_dn, m.light from taskqueue.owner_weight m
                                        where m.setup = p_setup and m.owner_group = p_group
                                        group by 1, 2
                                       having count(*) > 1)
         for update skip locked))
    returning d.owner_dn, d.light, d.task_queues, d.weight
  )
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, task_queues, weight)
  select p_setup, p_group, g.owner_dn, g.light, sum(g.task_queues), sum(g.weight) from gone g
   group by g.owner_dn, g.light having sum(g.task_queues) <> 0 or sum(g.weight) <> 0
$$;

comment on function taskqueue.fold_weights(text, text) is
  'Reduces the rows of taskqueue.owner_weight of an owner group without changing their sums.';
