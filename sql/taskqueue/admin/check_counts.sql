-- This is the part of taskqueue.check_matching for the counts of jobs and TaskQueues, and for the hands.
create or replace function taskqueue.check_counts(p_setup text)
returns table (structure text, key text, expected text, found text) language sql stable as $$
  select 'job_count',
         format('TaskQueue %s, user priority %s', coalesce(j.task_queue_id, c.task_queue_id),
                coalesce(j.user_priority, c.user_priority)),
         coalesce(j.jobs, 0)::text, coalesce(c.jobs, 0)::text
    from (select i.task_queue_id, i.user_priority, count(*) as jobs, min(i.job_id) as first_id
            from taskqueue.job i
           where i.setup = p_setup and not i.held
           group by 1, 2) j
    full join (select q.task_queue_id, l.user_priority, l.jobs, l.first_id
                 from taskqueue.task_queue q cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
                where q.setup = p_setup) c using (task_queue_id, user_priority)
   where coalesce(j.jobs, 0) <> coalesce(c.jobs, 0)
  union all
  select 'job_count',
         format('TaskQueue %s, user priority %s, first id', q.task_queue_id, l.user_priority),
         j.job_id::text, l.first_id::text
    from taskqueue.task_queue q
   cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
   cross join lateral (select min(i.job_id) as job_id from taskqueue.job i
                        where i.setup = q.setup and i.task_queue_id = q.task_queue_id and not i.held
                          and i.user_priority = l.user_priority) j
   where q.setup = p_setup and j.job_id < coalesce(l.first_id, 0)
  union all
  select 'hand', format('TaskQueue %s, job %s', h.task_queue_id, c.job_id),
         format('user priority %s in TaskQueue %s', c.user_priority, h.task_queue_id),
         format('user priority %s in TaskQueue %s%s', j.user_priority, j.task_queue_id,
                case when j.held then ', held' end)
    from taskqueue.hand h
   cross join lateral unnest(h.job_ids, h.entry_ids, h.user_priorities) c (job_id, entry_id, user_priority)
    join taskqueue.job j on j.setup = h.setup and j.job_id = c.job_id and j.entry_id = c.entry_id
   where h.setup = p_setup
     and (j.task_queue_id <> h.task_queue_id or j.user_priority <> c.user_priority or j.held)
  union all
  select 'hand', 'TaskQueue ' || q.task_queue_id, '1 hand', n.hands || ' hands'
    from taskqueue.task_queue q
   cross join lateral (select count(*) as hands from taskqueue.hand h
                        where h.setup = q.setup and h.task_queue_id = q.task_queue_id) n
   where q.setup = p_setup and n.hands <> 1
  union all
  select 'owner_weight',
         format('%s of %s%s', owner_dn, owner_group, case when light then ', light' end),
         format('%s TaskQueues, %s', t.task_queues, t.weight), format('%s TaskQueues, %s', w.task_queues, w.weight)
    from (select q.owner_group, q.owner_dn, taskqueue.is_background(q.mean_weight, true) as light,
                 count(*) as task_queues, sum(q.mean_weight::numeric / q.siblings) as weight
            from taskqueue.task_queue q where q.setup = p_setup group by 1, 2, 3) t
    full join (select o.owner_group, o.owner_dn, o.light, sum(o.task_queues) as task_queues, sum(o.weight) as weight
                 from taskqueue.owner_weight o
                where o.setup = p_setup
                group by 1, 2, 3) w using (owner_group, owner_dn, light)
   where coalesce(t.task_queues, 0) <> coalesce(w.task_queues, 0) or coalesce(t.weight, 0) <> coalesce(w.weight, 0)
$$;

comment on function taskqueue.check_counts(text) is
  'Differences between derived data (counts of jobs, hands, weights of owners) and the jobs and TaskQueues from which '
  'the data is derived (HANDS.md). No row means that everything is right.';
