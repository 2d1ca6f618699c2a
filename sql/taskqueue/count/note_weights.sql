create or replace function taskqueue.note_weights(
  p_setup text, p_task_queues taskqueue.task_queue[], p_sign int
) returns void
language sql as $$
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, task_queues, weight)
  select p_setup, q.owner_group, q.owner_dn, taskqueue.is_background(q.mean_weight, true), p_sign * count(*),
         p_sign * sum(q.mean_weight::numeric / q.siblings)
    from unnest(p_task_queues) q
   group by 2, 3, 4
$$;

comment on function taskqueue.note_weights(text, taskqueue.task_queue[], int) is
  'Notes in taskqueue.owner_weight that owners have these TaskQueues (p_sign 1), or no longer have them (-1).';
