-- The steps are locked first, then the instances, each in the order of their ids, as in instance.schedule_task.
create or replace function instance.leave_instances(
  p_setup text, p_step_ids bigint[], p_from text[], p_to text, p_reason text, p_of_taskqueues boolean default false
) returns table (step_id bigint, answer text)
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_steps instance.step[];
  v_step instance.step;
  v_left record;
begin
  v_steps := array(select l from instance.locked_steps(p_setup, p_step_ids) l);
  for v_left in
    select s.instance_id, sum(s.cpu) as cpu, sum(s.ram) as ram from unnest(v_steps) s
     where s.state = 'placed' and s.state = any (p_from) and (p_of_taskqueues or s.job_id is null)
     group by s.instance_id order by s.instance_id
  loop
    update instance.instance i
       set used_cpu = i.used_cpu - v_left.cpu, used_ram = i.used_ram - v_left.ram
     where i.setup = p_setup and i.instance_id = v_left.instance_id;
  end loop;
  foreach v_step in array v_steps loop
    if v_step.state = any (p_from) and (p_of_taskqueues or v_step.job_id is null) then
      update instance.step s
         set state = p_to, reason = p_reason, ended_at = case when p_to <> 'waiting' then v_now end,
             instance_id = case when p_to <> 'waiting' then s.instance_id end,
             placed_at = case when p_to <> 'waiting' then s.placed_at end
       where s.setup = p_setup and s.step_id = v_step.step_id;
    end if;
  end loop;
  return query
  select s.step_id, case when s.state <> all (p_from) then format('it is %s', s.state)
                         when p_of_taskqueues or s.job_id is null then p_to
                         else format('it represents job %s of a TaskQueue', s.job_id) end
    from unnest(v_steps) s
  union all
  select m.step_id, 'there is no such step'
    from (select u from unnest(p_step_ids) u except select s.step_id from unnest(v_steps) s) m (step_id)
  order by 1;
end $$;

comment on function instance.leave_instances(text, bigint[], text[], text, text, boolean) is
  'Moves the steps that are in one of the states p_from to the state p_to, and frees the cores and memory that they '
  'used on their instances. Returns the new state of each step, or the reason why it did not change. A step that '
  'represents a job of a TaskQueue changes only with p_of_taskqueues, since the agent of the job ends that job.';
