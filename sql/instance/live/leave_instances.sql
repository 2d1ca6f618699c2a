-- Jobs leave their instances, which have that much more room. Rows are locked jobs first, then instances, each by id, as by instance.schedule_task.
create or replace function instance.leave_instances(p_setup text, p_job_ids bigint[], p_from text[], p_to text, p_reason text, p_of_taskqueues boolean default false) returns table (job_id bigint, answer text)
language plpgsql
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_ids bigint[];
begin
  perform from instance.job j where j.setup = p_setup and j.job_id = any (p_job_ids) order by j.job_id for update;
  v_ids := array(select j.job_id from instance.job j where j.setup = p_setup and j.job_id = any (p_job_ids) and j.state = any (p_from)
                                                     and (p_of_taskqueues or j.taskqueue_job_id is null));
  perform from instance.instance i
    where i.setup = p_setup and i.instance_id in (select j.instance_id from instance.job j where j.setup = p_setup and j.job_id = any (v_ids) and j.state = 'placed')
    order by i.instance_id for update;
  update instance.instance i set used_cpu = i.used_cpu - u.cpu, used_ram = i.used_ram - u.ram
    from (select j.instance_id, sum(j.cpu) as cpu, sum(j.ram) as ram
            from instance.job j where j.setup = p_setup and j.job_id = any (v_ids) and j.state = 'placed' group by j.instance_id) u
   where i.setup = p_setup and i.instance_id = u.instance_id;
  return query
  select i.job_id, case when i.job_id = any (v_ids) then p_to when j.job_id is null then 'there is no such job'
              when j.state = any (p_from) then format('it is job %s of TaskQueues', j.taskqueue_job_id) else format('it is %s', j.state) end
    from (select distinct u.job_id from unnest(p_job_ids) u (job_id)) i
    left join instance.job j on j.setup = p_setup and j.job_id = i.job_id
   order by i.job_id;
  update instance.job j
     set state = p_to, reason = p_reason, ended_at = case when p_to <> 'waiting' then v_now end,
         instance_id = case when p_to <> 'waiting' then j.instance_id end, placed_at = case when p_to <> 'waiting' then j.placed_at end
   where j.setup = p_setup and j.job_id = any (v_ids);
end $$;

comment on function instance.leave_instances(text, bigint[], text[], text, text, boolean) is
'Changes the state of those of the jobs that are in a state from, and gives back what they used; each answered: its new state, or why not. Jobs that stand for jobs of TaskQueues leave only with p_of_taskqueues: who ends them is their agent, there.';
