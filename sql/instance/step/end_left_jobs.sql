-- Jobs that stand for jobs of TaskQueues are over when these are neither leased nor (for a queue of kind cloud)
-- waiting. Whoever has one in hand ends it himself.
create or replace function instance.end_left_jobs(p_setup text, p_instance_id bigint default null) returns bigint
language plpgsql
set enable_seqscan = off
as $$
declare
  v_jobs instance.job[];
  v_ids bigint[];
  v_part record;
  v_ended bigint := 0;
begin
  if p_instance_id is null then
    v_jobs := array(select j from instance.job j
                     where j.setup = p_setup and j.state in ('waiting', 'unschedulable')
                       and j.taskqueue_job_id is not null
                    union all
                    select j from instance.job j
                     where j.setup = p_setup and j.state = 'placed' and j.taskqueue_job_id is not null);
  else
    v_jobs := array(select j from instance.job j
                     where j.setup = p_setup and j.state = 'placed' and j.instance_id = p_instance_id
                       and j.taskqueue_job_id is not null);
  end if;
  v_ids := array(
    with open as materialized (
      select c.queue, c.task_queue_id from instance.cloud_task_queue c where c.setup = p_setup
    ), left_over as materialized (
      select j.job_id, j.queue, f.task_queue_id
        from unnest(v_jobs) j
       cross join lateral taskqueue.fate_of(p_setup, j.taskqueue_job_id) f
       where not f.is_leased
    )
    select l.job_id from left_over l
     where l.queue is null or l.task_queue_id is null
        or (l.queue, l.task_queue_id) not in (select o.queue, o.task_queue_id from open o));
  if v_ids = '{}' then
    return 0;
  end if;
  v_ids := array(select o.job_id from unnest(v_ids) u (job_id)
                  cross join lateral (select j.job_id from instance.job j
                                       where j.setup = p_setup and j.job_id = u.job_id
                                         for update skip locked) o);
  for v_part in
    select w.state, w.reason, array_agg(w.job_id) as ids
      from (select j.job_id, case when f.outcome = 'finished' then 'finished' else 'cancelled' end as state,
                   case when f.waits then 'it waits in TaskQueues, held, or at a queue that is offline or no cloud'
                        else coalesce('it ended: ' || f.outcome, 'it is in no TaskQueue') end as reason
              from unnest(v_jobs) j
             cross join lateral taskqueue.fate_of(p_setup, j.taskqueue_job_id) f
             where (j.job_id in (select u from unnest(v_ids) u)) is true) w
     group by w.state, w.reason
  loop
    v_ended := v_ended + (select count(*)
                            from instance.leave_instances(p_setup, v_part.ids, '{waiting,unschedulable,placed}',
                                                          v_part.state, v_part.reason, true));
  end loop;
  return v_ended;
end $$;

comment on function instance.end_left_jobs(text, bigint) is
  'Ends the jobs on instances (or on one) whose jobs of TaskQueues have ended, were taken away, or, '
  'where a lease expired, are for others again; returns how many.';
