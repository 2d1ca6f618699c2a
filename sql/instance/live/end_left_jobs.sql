-- after: instance.leave_instances
-- after: instance.cloud_task_queue
-- Jobs that stand for jobs of TaskQueues are over when these are neither leased nor (for a queue of kind cloud) waiting. Whoever has one in hand ends it himself.
create or replace function instance.end_left_jobs(p_setup text, p_instance_id bigint default null) returns bigint
language plpgsql
set enable_seqscan = off
as $$
declare
  v_jobs instance.job[];
  v_ids bigint[];
begin
  if p_instance_id is null then
    v_jobs := array(select j from instance.job j where j.setup = p_setup and j.state in ('waiting', 'unschedulable') and j.taskqueue_job_id is not null
                    union all
                    select j from instance.job j where j.setup = p_setup and j.state = 'placed' and j.taskqueue_job_id is not null);
  else
    v_jobs := array(select j from instance.job j where j.setup = p_setup and j.state = 'placed' and j.instance_id = p_instance_id and j.taskqueue_job_id is not null);
  end if;
  v_ids := array(
    with open as materialized (
      select c.queue, c.task_queue_id from instance.cloud_task_queue c where c.setup = p_setup
    ), left_over as materialized (
      select j.job_id, j.queue, (select t.task_queue_id from taskqueue.job t where t.setup = p_setup and t.job_id = j.taskqueue_job_id and not t.held) as task_queue_id
        from unnest(v_jobs) j
       where not exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = j.taskqueue_job_id offset 0)
    )
    select l.job_id from left_over l
     where l.queue is null or l.task_queue_id is null or (l.queue, l.task_queue_id) not in (select o.queue, o.task_queue_id from open o));
  if v_ids = '{}' then
    return 0;
  end if;
  v_ids := array(select o.job_id from unnest(v_ids) u (job_id)
                  cross join lateral (select j.job_id from instance.job j where j.setup = p_setup and j.job_id = u.job_id for update skip locked) o);
  return (select count(*) from instance.leave_instances(p_setup, v_ids, '{waiting,unschedulable,placed}', 'finished', 'it has left the TaskQueues', true));
end $$;

comment on function instance.end_left_jobs(text, bigint) is
'Ends the jobs on instances (or on one) whose jobs of TaskQueues have ended, were taken away, or, where a lease expired, are for others again; returns how many.';
