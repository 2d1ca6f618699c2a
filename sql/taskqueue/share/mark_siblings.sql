-- SHARES.md, Siblings: a TaskQueue that is taken out of matching, or back in, changes their number.
create or replace function taskqueue.mark_siblings(p_setup text, p_task_queue_id bigint) returns void
language sql as $$
  insert into taskqueue.share_mark (setup, owner_group, marked_at)
  select p_setup, q.owner_group, resource.clock(p_setup)
    from taskqueue.task_queue q
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id
     and exists (select from taskqueue.definition s
                   join taskqueue.task_queue o on o.setup = p_setup and o.definition_id = s.definition_id
                  where s.setup = p_setup and s.family = d.family and s.sites = d.sites
                    and o.task_queue_id <> q.task_queue_id)
$$;

comment on function taskqueue.mark_siblings(text, bigint) is
  'Marks the group of a TaskQueue that has siblings, so that maintenance counts them again.';
