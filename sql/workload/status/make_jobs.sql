-- STATES.md, From task to TaskQueue. A job works on one part of its task's input (workload.job_file); parts that
-- nobody works on are taken in their order. A job has the cores of its queue, one if the task is of one: an 8-core
-- task runs on a 4-core queue. If two callers give the same part to two jobs, one of them fails (workload.job_task).
create or replace function workload.make_jobs(
  p_setup text, p_task_ids bigint[], p_queues text[], p_job_ids bigint[], p_why text
) returns bigint
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_made bigint;
begin
  perform resource.skip_lost_ids('workload.job_id', 1000000000000, 1000000000000);
  with wanted as materialized (
    select u.task_id, u.queue, g.place
      from (select w.task_id, w.queue, w.jobs,
                   sum(w.jobs) over (partition by w.task_id order by w.place)::bigint as upto
              from unnest(p_task_ids, p_queues, p_job_ids) with ordinality w (task_id, queue, jobs, place)) u
     cross join lateral generate_series(u.upto - u.jobs + 1, u.upto) g (place)
  ), queue as materialized (  -- looked up once, not once a job
    select q.queue, q.unified_name, q.child_type, q.corecount, u.workflow
      from resource.candidate_queue q
      join resource.queue u on u.setup = q.setup and u.queue = q.unified_name
     where q.setup = p_setup and q.queue = any (p_queues)
  ), worked as materialized (
    -- parts that jobs had; looked at once, as a plan made while there were few jobs would look at all of them for each
    select e.task_id, e.number, bool_or(e.rebrokered = 0) as is_taken,
           array_agg(e.queue order by e.rebrokered) as queues
      from workload.job e
     where e.setup = p_setup and e.task_id = any (p_task_ids) and e.number is not null
     group by e.task_id, e.number
  ), open as materialized (
    select d.task_id, g.number, e.queues, row_number() over (partition by d.task_id order by g.number) as place
      from workload.input_digest d
     cross join lateral generate_series(1, d.jobs) g (number)
      left join worked e on e.task_id = d.task_id and e.number = g.number
     where d.setup = p_setup and d.task_id = any (p_task_ids) and e.is_taken is not true
  ), part as materialized (
    select f.task_id, f.number,
           count(distinct f.lfn) filter (where not f.is_pseudo) as files,
           sum(f.size) filter (where not f.is_pseudo) as bytes, sum(f.nevents) filter (where f.is_main) as events
      from workload.job_file(p_setup, p_task_ids) f
     group by f.task_id, f.number
  ), made as (
    insert into workload.job (setup, job_id, task_id, number, queue, previous_queues, status, priority, gshare, label,
                              user_name, working_group, processing_type, resource_type, nucleus,
                              cores, disk_io, workflow, created, modified, state_changed, input_files,
                              input_bytes, events)
    select p_setup, nextval('workload.job_id'), t.task_id, o.number, q.unified_name,
           o.queues, 'defined', t.current_priority, t.gshare, t.label, t.user_name, t.working_group, t.processing_type,
           coalesce(q.child_type, t.resource_type), t.nucleus,
           case when coalesce(case when t.is_merging then t.merge_core_count end, t.core_count, 1) = 1 then 1
                else coalesce(nullif(q.corecount, 0), 1) end,
           t.disk_io, q.workflow, v_now, v_now, v_now, coalesce(p.files, 0), coalesce(p.bytes, 0), coalesce(p.events, 0)
      from wanted w
      join open o on o.task_id = w.task_id and o.place = w.place
      join workload.task t on t.setup = p_setup and t.task_id = w.task_id
      join queue q on q.queue = w.queue
      left join part p on p.task_id = o.task_id and p.number = o.number
     -- their ids: the same seed makes the same jobs, whatever the plan
     order by t.current_priority desc, t.task_id, o.number
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
