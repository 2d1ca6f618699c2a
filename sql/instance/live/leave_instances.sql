-- Jobs leave their instances, which have that much more room. Rows are locked jobs first, then instances, each by id, as by instance.schedule_task.
create or replace function instance.leave_instances(p_setup text, p_job_ids bigint[], p_from text[], p_to text, p_reason text, p_of_taskqueues boolean default false) returns table (job_id bigint, answer text)
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan  -- each row by its key, however many they are
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_ids bigint[];
begin
  v_ids := array(
    select l.job_id
      from (select j.job_id, j.state, j.taskqueue_job_id from unnest(p_job_ids) u (job_id) join instance.job j on j.setup = p_setup and j.job_id = u.job_id order by j.job_id for update of j) l
     where l.state = any (p_from) and (p_of_taskqueues or l.taskqueue_job_id is null));
  perform from (select distinct j.instance_id from unnest(v_ids) u (job_id) join instance.job j on j.setup = p_setup and j.job_id = u.job_id where j.state = 'placed') p
          join instance.instance i on i.setup = p_setup and i.instance_id = p.instance_id
    order by i.instance_id for update of i;
  update instance.instance i set used_cpu = i.used_cpu - p.cpu, used_ram = i.used_ram - p.ram
    from (select j.instance_id, sum(j.cpu) as cpu, sum(j.ram) as ram
            from (select distinct d.job_id from unnest(v_ids) d (job_id)) u join instance.job j on j.setup = p_setup and j.job_id = u.job_id
           where j.state = 'placed' group by j.instance_id) p
   where i.setup = p_setup and i.instance_id = p.instance_id;
  return query
  select i.job_id, case when j.job_id is null then 'there is no such job'
                        when j.state <> all (p_from) then format('it is %s', j.state)
                        when p_of_taskqueues or j.taskqueue_job_id is null then p_to
                        else format('it is job %s of TaskQueues', j.taskqueue_job_id) end
    from (select distinct u.job_id from unnest(p_job_ids) u (job_id)) i
    left join instance.job j on j.setup = p_setup and j.job_id = i.job_id
   order by i.job_id;
  update instance.job j
     set state = p_to, reason = p_reason, ended_at = case when p_to <> 'waiting' then v_now end,
         instance_id = case when p_to <> 'waiting' then j.instance_id end, placed_at = case when p_to <> 'waiting' then j.placed_at end
    from unnest(v_ids) u (job_id)
   where j.setup = p_setup and j.job_id = u.job_id;
end $$;

comment on function instance.leave_instances(text, bigint[], text[], text, text, boolean) is
'Changes the state of those of the jobs that are in a state from, and gives back what they used; each answered: its new state, or why not. Jobs that stand for jobs of TaskQueues leave only with p_of_taskqueues: who ends them is their agent, there.';
