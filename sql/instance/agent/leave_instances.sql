-- Jobs leave their instances, which have that much more room. Rows are locked jobs first, then instances, each by
-- id, as by instance.schedule_task.
create or replace function instance.leave_instances(
  p_setup text, p_job_ids bigint[], p_from text[], p_to text, p_reason text, p_of_taskqueues boolean default false
) returns table (job_id bigint, answer text)
language plpgsql
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_jobs instance.job[];
  v_job instance.job;
  v_left record;
begin
  v_jobs := array(select l from instance.locked_jobs(p_setup, p_job_ids) l);
  for v_left in
    select j.instance_id, sum(j.cpu) as cpu, sum(j.ram) as ram from unnest(v_jobs) j
     where j.state = 'placed' and j.state = any (p_from) and (p_of_taskqueues or j.taskqueue_job_id is null)
     group by j.instance_id order by j.instance_id
  loop
    update instance.instance i
       set used_cpu = i.used_cpu - v_left.cpu, used_ram = i.used_ram - v_left.ram
     where i.setup = p_setup and i.instance_id = v_left.instance_id;
  end loop;
  foreach v_job in array v_jobs loop
    if v_job.state = any (p_from) and (p_of_taskqueues or v_job.taskqueue_job_id is null) then
      update instance.job j
         set state = p_to, reason = p_reason, ended_at = case when p_to <> 'waiting' then v_now end,
             instance_id = case when p_to <> 'waiting' then j.instance_id end,
             placed_at = case when p_to <> 'waiting' then j.placed_at end
       where j.setup = p_setup and j.job_id = v_job.job_id;
    end if;
  end loop;
  return query
  select j.job_id, case when j.state <> all (p_from) then format('it is %s', j.state)
                        when p_of_taskqueues or j.taskqueue_job_id is null then p_to
                        else format('it is job %s of TaskQueues', j.taskqueue_job_id) end
    from unnest(v_jobs) j
  union all
  select m.job_id, 'there is no such job'
    from (select u from unnest(p_job_ids) u except select j.job_id from unnest(v_jobs) j) m (job_id)
  order by 1;
end $$;

comment on function instance.leave_instances(text, bigint[], text[], text, text, boolean) is
  'Changes the state of those of the jobs that are in a state from, and gives back what they used; each answered: its '
  'new state, or why not. Jobs that stand for jobs of TaskQueues leave only with p_of_taskqueues: who ends them is '
  'their agent, there.';
