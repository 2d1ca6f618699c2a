-- There are two queries, because an index is used for `is null` but not for `is not distinct from`.
create or replace function instance.unplaced_steps(p_setup text, p_task_id bigint, p_queue text)
returns setof instance.step
language plpgsql stable as $$
begin
  if p_task_id is null then
    return query
    select s.*
      from instance.step s
     where s.setup = p_setup and s.task_id is null and s.state in ('waiting', 'unschedulable')
       and s.queue is not distinct from p_queue;
  else
    return query
    select s.*
      from instance.step s
     where s.setup = p_setup and s.task_id = p_task_id and s.state in ('waiting', 'unschedulable')
       and s.queue is not distinct from p_queue;
  end if;
end $$;

comment on function instance.unplaced_steps(text, bigint, text) is
  'Steps of a task (null means of none) at a queue of kind cloud (null means at none) that are on no instance.';
