-- after: taskqueue.job_level
-- Section 9: tp is the mean draw weight of a queue's jobs. A queue without jobs that could be matched keeps the one it had.
create or replace function taskqueue.weight_of_queue(p_setup text, p_group text default null, p_owners text[] default null) returns table (task_queue_id bigint, weight float8)
language sql stable
as $$
  select q.task_queue_id, coalesce(w.weight, q.mean_weight)
    from taskqueue.task_queue q
    join taskqueue.setting s on s.setup = q.setup
   cross join lateral (
          select sum(c.jobs * taskqueue.weight(c.user_priority, s.ten_first)) / nullif(sum(c.jobs), 0) as weight
            from taskqueue.job_level(q.setup, q.task_queue_id) c
         ) w
   where q.setup = p_setup and (p_group is null or q.owner_group = p_group) and (p_owners is null or q.owner_dn = any (p_owners))
$$;

comment on function taskqueue.weight_of_queue(text, text, text[]) is
'Mean draw weight of the jobs of each TaskQueue of a setup, of one owner group, or of some owners in it, as they are now.';
