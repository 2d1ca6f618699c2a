-- What a schedule takes together: the jobs of a task at a queue. Two queries, since an index finds null only as such.
create or replace function instance.unplaced_jobs(p_setup text, p_task_id bigint, p_queue text)
returns setof instance.job
language plpgsql stable
as $$
begin
  if p_task_id is null then
    return query
    select j.*
      from instance.job j
     where j.setup = p_setup and j.task_id is null and j.state in ('waiting', 'unschedulable')
       and j.queue is not distinct from p_queue;
  else
    return query
    select j.*
      from instance.job j
     where j.setup = p_setup and j.task_id = p_task_id and j.state in ('waiting', 'unschedulable')
       and j.queue is not distinct from p_queue;
  end if;
end $$;

comment on function instance.unplaced_jobs(text, bigint, text) is
  'Jobs of a task (null = of none) at a queue of kind cloud (null = at none) that are on no instance.';
