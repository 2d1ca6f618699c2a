-- There are two queries, because an index is used for `is null` but not for `is not distinct from`.
create or replace function instance.live_instances(p_setup text, p_task_id bigint, p_queue text)
returns setof instance.instance
language plpgsql stable as $$
begin
  if p_task_id is null then
    return query
    select i.*
      from instance.instance i
     where i.setup = p_setup and i.task_id is null and i.state <> 'released' and i.queue is not distinct from p_queue;
  else
    return query
    select i.*
      from instance.instance i
     where i.setup = p_setup and i.task_id = p_task_id and i.state <> 'released'
       and i.queue is not distinct from p_queue;
  end if;
end $$;

comment on function instance.live_instances(text, bigint, text) is
  'Instances of a task (null means instances of no task) for a queue of kind cloud (null means for none) that are not '
  'released.';
