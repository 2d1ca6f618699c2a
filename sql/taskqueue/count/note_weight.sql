create or replace function taskqueue.note_weight(
  p_setup text, p_group text, p_owner text, p_weight float8, p_task_queues int
) returns void
language sql as $$
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, task_queues, weight)
  values (p_setup, p_group, p_owner, taskqueue.is_background(p_weight, true), p_task_queues,
          p_task_queues * p_weight::numeric)
$$;

comment on function taskqueue.note_weight(text, text, text, float8, int) is
  'Notes in taskqueue.owner_weight that an owner has one TaskQueue of this mean weight more (p_task_queues 1) or less '
  '(-1).';
