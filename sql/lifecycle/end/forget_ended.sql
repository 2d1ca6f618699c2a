-- Old ended jobs (jobs_kept) leave workload.job, and the counts of their task change in the same statement. A part of a
-- task's input counts as done as long as the job that did it is kept. So that no part is done twice, this job stays
-- while a new job may be made for its task: while parts are to be assigned and the task has not ended, while jobs are
-- active, and while jobs that did not finish are kept, since these may be tried again. The latter go together, when the
-- last of them is old. So do jobs of parts that failed, and with them the failures and changes of these parts.
create or replace function lifecycle.forget_ended(p_setup text, p_limit int default null) returns bigint
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_setting lifecycle.setting_in_force;
  v_before timestamptz;
  v_gone record;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform resource.require_limit('limit', p_limit);
  select s.* into v_setting from lifecycle.setting_in_force s where s.setup = p_setup;
  v_before := resource.clock(p_setup) - v_setting.jobs_kept;
  with task as materialized (
    select j.task_id, bool_or(j.status <> 'finished') as is_undone,
           bool_or(j.status <> 'finished' and (j.ended >= v_before or j.retry_at is not null)) as may_return
      from workload.job j
     where j.setup = p_setup and j.number is not null and j.rebrokered = 0
       and j.task_id in (select o.task_id from workload.job o
                          where o.setup = p_setup and o.ended < v_before and o.number is not null and o.rebrokered = 0)
     group by j.task_id
  ), kept as materialized (
    select d.task_id
      from brokerage.task_due_state d
     where d.setup = p_setup and d.algorithm <> 'production_task' and d.of_label and d.jobs_left > 0
       and ((d.status = any ('{done,finished,failed,broken,aborted}')) is not true
            or exists (select from workload.job o  -- its part is open, although the task has ended
                        where o.setup = p_setup and o.task_id = d.task_id and o.rebrokered > 0 and o.ended >= v_before
                          and not exists (select from workload.job n
                                           where n.setup = o.setup and n.task_id = o.task_id and n.number = o.number
                                             and n.rebrokered = 0)))
    union
    select t.task_id from task t where t.may_return
    union
    select c.task_id from workload.job_by_task c
     where c.setup = p_setup and not workload.is_end(c.status)
     group by c.task_id
    having sum(c.jobs) > 0
  ), old as materialized (
    select j.ctid
      from workload.job j
      left join kept k on k.task_id = j.task_id
      left join task t on t.task_id = j.task_id
     where j.setup = p_setup and j.ended < v_before and workload.is_end(j.status) and j.retry_at is null
       and (j.number is null
            or k.task_id is null and (j.rebrokered > 0 or j.status <> 'finished' or t.is_undone is not true)
            or j.rebrokered > 0
               and not exists (select from workload.failed_part p
                                where p.setup = j.setup and p.task_id = j.task_id and p.number = j.number))
     order by j.ended limit coalesce(p_limit, v_setting.most) for update of j skip locked
  ), gone as (
    delete from workload.job j where j.ctid = any (array(select o.ctid from old o))
    returning j.*
  ), counted as (
    insert into workload.job_change (setup, at, jobs, from_status, to_status, task_id, queue, gshare, resource_type,
                                     nucleus, label, user_name, working_group,
                                     processing_type, cores, disk_io, disk_io_jobs)
    select p_setup, resource.clock(p_setup), count(*), g.status, null, g.task_id, g.queue, g.gshare, g.resource_type,
           g.nucleus, g.label, g.user_name, g.working_group,
           g.processing_type, sum(coalesce(g.cores, 1)), sum(g.disk_io::numeric), count(g.disk_io)
      from gone g
     group by g.status, g.task_id, g.queue, g.gshare, g.resource_type, g.nucleus, g.label, g.user_name,
              g.working_group, g.processing_type
  )
  select count(*) as jobs, array_agg(g.task_id) filter (where g.number is not null) as task_ids,
         array_agg(g.number) filter (where g.number is not null) as numbers into v_gone
    from gone g;
  perform workload.forget_parts(p_setup, v_gone.task_ids, v_gone.numbers);
  return v_gone.jobs;
end $$;

comment on function lifecycle.forget_ended(text, int) is
  'Forgets up to p_limit jobs (null means the setting) that ended longer than jobs_kept ago, and returns how many. '
  'Jobs that did a part of a task''s input, or whose part failed, stay while the task has parts to assign, jobs that '
  'have not ended, or jobs that may be tried again. '
  'Errors: PB001 (no such setup), PB002 (setup not granted).';
