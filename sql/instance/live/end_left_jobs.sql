-- after: instance.leave_instances
-- Jobs that stand for jobs of TaskQueues are over when these are neither leased nor (for a queue of kind cloud) waiting. Whoever has one in hand ends it himself.
create or replace function instance.end_left_jobs(p_setup text, p_instance_id bigint default null) returns bigint
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan  -- each row by its key, however many they are
as $$
declare
  v_ids bigint[];
begin
  if p_instance_id is null then
    v_ids := array(select j.job_id from instance.job j where j.setup = p_setup and j.state in ('waiting', 'unschedulable') and j.taskqueue_job_id is not null
                   union all
                   select j.job_id from instance.job j where j.setup = p_setup and j.state = 'placed' and j.taskqueue_job_id is not null);
  else
    v_ids := array(select j.job_id from instance.job j where j.setup = p_setup and j.state = 'placed' and j.instance_id = p_instance_id and j.taskqueue_job_id is not null);
  end if;
  v_ids := array(
    select j.job_id
      from unnest(v_ids) u (job_id) join instance.job j on j.setup = p_setup and j.job_id = u.job_id
     where j.state in ('waiting', 'unschedulable', 'placed')
       and not exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = j.taskqueue_job_id)
       and not exists (select from instance.cloud_job c where c.setup = p_setup and c.job_id = j.taskqueue_job_id and c.queue = j.queue)
       for update of j skip locked);
  if v_ids = '{}' then
    return 0;
  end if;
  return (select count(*) from instance.leave_instances(p_setup, v_ids, '{waiting,unschedulable,placed}', 'finished', 'it has left the TaskQueues', true));
end $$;

comment on function instance.end_left_jobs(text, bigint) is
'Ends the jobs on instances (or on one) whose jobs of TaskQueues have ended, were taken away, or, where a lease expired, are for others again; returns how many.';
