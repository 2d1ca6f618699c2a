-- SHARES.md, Siblings. The TaskQueues of each key are counted once for all that are new.
create or replace function taskqueue.count_siblings(p_setup text, p_task_queue_ids bigint[]) returns void
language sql as $$
  with n as materialized (  -- otherwise it may be computed again for each TaskQueue, without statistics
    select d.family, d.sibling_key, count(*) filter (where m.enabled and not m.held) as siblings
      from (select distinct i.family, i.sibling_key
              from taskqueue.task_queue o
              join taskqueue.definition i on i.setup = o.setup and i.definition_id = o.definition_id
             where o.setup = p_setup and o.task_queue_id = any (p_task_queue_ids)) k
      join taskqueue.definition d on d.setup = p_setup and (d.family, d.sibling_key) = (k.family, k.sibling_key)
      join taskqueue.task_queue m on m.setup = p_setup and m.definition_id = d.definition_id
     group by d.family, d.sibling_key
  )
  update taskqueue.task_queue q set siblings = n.siblings
    from n
    join taskqueue.definition d on d.setup = p_setup and (d.family, d.sibling_key) = (n.family, n.sibling_key)
   where q.setup = p_setup and q.definition_id = d.definition_id and q.task_queue_id = any (p_task_queue_ids)
     and n.siblings > 1
$$;

comment on function taskqueue.count_siblings(text, bigint[]) is
  'Gives new TaskQueues the number of their siblings.';
