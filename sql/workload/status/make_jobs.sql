-- STATES.md, From task to TaskQueue. A job works on one part of its task's input (workload.job_file); parts that
-- nobody works on are taken in their order. A job has the cores of its queue, one if the task is of one: an 8-core
-- task runs on a 4-core queue. If two callers give the same part to two jobs, one of them fails (workload.job_task).
create or replace function workload.make_jobs(
  p_setup text, p_task_ids bigint[], p_queues text[], p_jobs bigint[], p_why text
) returns bigint
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_made bigint;
begin
  perform resource.skip_lost_ids('workload.job_id', 1000000000000, 1000000000000);
  -- Rows of a job are put together by grouping, not by joins: a plan that a session keeps expects few jobs and few
  -- parts, and would go over all parts for each job.
  with queue as materialized (
    select q.queue, q.unified_name, q.child_type, q.corecount, u.workflow
      from resource.candidate_queue q
      join resource.queue u on u.setup = q.setup and u.queue = q.unified_name
     where q.setup = p_setup and q.queue = any (p_queues)
  ), wanted as materialized (
    select u.task_id, g.place, u.unified_name, u.child_type, u.corecount, u.workflow
      from (select w.task_id, w.jobs, q.unified_name, q.child_type, q.corecount, q.workflow,
                   sum(w.jobs) over (partition by w.task_id order by w.place)::bigint as upto
              from unnest(p_task_ids, p_queues, p_jobs) with ordinality w (task_id, queue, jobs, place)
              join queue q on q.queue = w.queue) u
     cross join lateral generate_series(u.upto - u.jobs + 1, u.upto) g (place)
  ), open as materialized (  -- parts that nobody works on, and the queues that jobs on them had
    select x.task_id, x.number, x.queues, x.files, x.bytes, x.events,
           row_number() over (partition by x.task_id order by x.number) as place
      from (select u.task_id, u.number, max(u.files) as files, max(u.bytes) as bytes, max(u.events) as events,
                   array_agg(u.queue order by u.rebrokered) filter (where u.rebrokered is not null) as queues
              from (select d.task_id, g.number, true as is_part, null as queue, null::int as rebrokered,
                           null::bigint as files, null::numeric as bytes, null::numeric as events
                      from workload.input_digest d
                     cross join lateral generate_series(1, d.jobs) g (number)
                     where d.setup = p_setup and d.task_id = any (p_task_ids)
                    union all
                    select e.task_id, e.number, false, e.queue, e.rebrokered, null, null, null
                      from workload.job e
                     where e.setup = p_setup and e.task_id = any (p_task_ids) and e.number is not null
                    union all
                    select f.task_id, f.number, false, null, null,
                           count(distinct f.lfn) filter (where not f.is_pseudo),
                           sum(f.size) filter (where not f.is_pseudo), sum(f.nevents) filter (where f.is_main)
                      from workload.job_file(p_setup, p_task_ids) f
                     group by f.task_id, f.number) u
             group by u.task_id, u.number
            having bool_or(u.is_part) and bool_or(u.rebrokered = 0) is not true) x
  ), job as materialized (
    select x.task_id, max(x.number) as number, max(x.unified_name) as unified_name, max(x.child_type) as child_type,
           max(x.corecount) as corecount, max(x.workflow) as workflow, max(x.queues) as queues, max(x.files) as files,
           max(x.bytes) as bytes, max(x.events) as events
      from (select w.task_id, w.place, w.unified_name, w.child_type, w.corecount, w.workflow, null::bigint as number,
                   null::text[] as queues, null::bigint as files, null::numeric as bytes, null::numeric as events
              from wanted w
            union all
            select o.task_id, o.place, null, null, null, null, o.number, o.queues, o.files, o.bytes, o.events
              from open o) x
     group by x.task_id, x.place
    having count(x.unified_name) > 0 and count(x.number) > 0
  ), made as (
    insert into workload.job (setup, job_id, task_id, number, queue, previous_queues, status, priority, gshare, label,
                              user_name, working_group, processing_type, resource_type, nucleus,
                              cores, disk_io, workflow, created, modified, state_changed, input_files,
                              input_bytes, events)
    select p_setup, nextval('workload.job_id'), t.task_id, j.number, j.unified_name,
           j.queues, 'defined', t.current_priority, t.gshare, t.label, t.user_name, t.working_group, t.processing_type,
           coalesce(j.child_type, t.resource_type), t.nucleus,
           case when coalesce(case when t.is_merging then t.merge_core_count end, t.core_count, 1) = 1 then 1
                else coalesce(nullif(j.corecount, 0), 1) end,
           t.disk_io, j.workflow, v_now, v_now, v_now, coalesce(j.files, 0), coalesce(j.bytes, 0), coalesce(j.events, 0)
      from job j
      join workload.task t on t.setup = p_setup and t.task_id = j.task_id
     -- their ids: the same seed makes the same jobs, whatever the plan
     order by t.current_priority desc, t.task_id, j.number
    returning job_id, task_id, queue, gshare, resource_type, nucleus, label, user_name, working_group, processing_type,
              cores, disk_io, status
  ), noted as (
    insert into workload.job_history (setup, at, job_id, to_status, role_name, why)
    select p_setup, v_now, m.job_id, m.status, resource.caller(), p_why from made m
  ), counted as (
    insert into workload.job_change (setup, at, jobs, to_status, task_id, queue, gshare, resource_type, nucleus, label,
                                     user_name, working_group, processing_type, cores, disk_io, disk_io_jobs)
    select p_setup, v_now, count(*), m.status, m.task_id, m.queue, m.gshare, m.resource_type, m.nucleus, m.label,
           m.user_name, m.working_group, m.processing_type, sum(m.cores), sum(m.disk_io::numeric), count(m.disk_io)
      from made m
     group by m.status, m.task_id, m.queue, m.gshare, m.resource_type, m.nucleus, m.label, m.user_name,
              m.working_group, m.processing_type
  )
  select count(*) into v_made from made;
  return v_made;
end $$;

comment on function workload.make_jobs(text, bigint[], text[], bigint[], text) is
  'Makes so many jobs of each task for each queue (arrays side by side), defined, on the first parts of the input that '
  'nobody works on, and returns how many: fewer where no more parts are open.';
