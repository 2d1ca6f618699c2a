-- See STATES.md, From task to TaskQueue. A job works on one part of its task's input (workload.input_run); the first
-- parts that no job works on are taken. A job has the cores of its queue, or one core if the task needs one: an 8-core
-- task can run on a 4-core queue. If two callers give the same part to two jobs, one of them fails (workload.job_task).
-- A task is a row with arrays, and a job takes its elements by position: a plan that a session keeps expects few jobs
-- and few parts, so a join would scan all parts for each job. Ids follow the priority, so that a seed always gives the
-- same jobs, whatever the plan is.
create or replace function workload.make_jobs(
  p_setup text, p_task_ids bigint[], p_queues text[], p_jobs bigint[], p_why text,
  p_by_output boolean default false, p_changes text[] default null
) returns bigint
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_caller text := resource.caller();
  v_made bigint;
begin
  perform from resource.setup s where s.setup = p_setup for key share;  -- as a foreign key of workload.job would
  perform resource.skip_lost_ids('workload.job_id', 1000000000000, 1000000000000);
  perform workload.fix_cutting(p_setup, p_task_ids, p_by_output);
  with queue as materialized (
    select q.queue, q.unified_name, q.child_type, q.corecount, u.workflow
      from resource.candidate_queue q
      join resource.queue u on u.setup = q.setup and u.queue = q.unified_name
     where q.setup = p_setup and q.queue = any (p_queues)
  ), wanted as materialized (
    select w.task_id, sum(w.jobs)::bigint as jobs, array_agg(w.jobs order by w.place) as jobs_at,
           array_agg(q.unified_name order by w.place) as queues,
           array_agg(q.child_type order by w.place) as child_types,
           array_agg(q.corecount order by w.place) as corecounts,
           array_agg(q.workflow order by w.place) as workflows, min(w.changes) as changes
      from unnest(p_task_ids, p_queues, p_jobs, p_changes) with ordinality w (task_id, queue, jobs, changes, place)
      join queue q on q.queue = w.queue
     where w.jobs > 0
     group by w.task_id
  ), task as materialized (
    select t.task_id, t.current_priority, t.gshare, t.label, t.user_name, t.working_group, t.processing_type,
           t.resource_type, t.nucleus, t.disk_io,
           coalesce(case when t.is_merging then t.merge_core_count end, t.core_count, 1) as core_count,
           w.queues, w.child_types, w.corecounts, w.workflows, w.jobs_at, o.numbers, p.files, p.bytes, p.events,
           sum(cardinality(o.numbers)) over (order by t.current_priority desc, t.task_id)
           - cardinality(o.numbers) as jobs_before
      from wanted w
      join workload.task t on t.setup = p_setup and t.task_id = w.task_id
     cross join lateral workload.open_parts(p_setup, t.task_id, w.jobs, w.changes, p_changes is null) o
     cross join lateral workload.sums_of_parts(p_setup, t.task_id, o.numbers) p
  ), id as materialized (
    select array(select nextval('workload.job_id')
                   from generate_series(1, (select sum(cardinality(t.numbers)) from task t)::bigint)) as ids
  ), made as (
    insert into workload.job (setup, job_id, task_id, number, queue, previous_queues, status, priority, gshare, label,
                              user_name, working_group, processing_type, resource_type, nucleus,
                              cores, disk_io, workflow, created, modified, state_changed, input_files,
                              input_bytes, events)
    select p_setup, (select i.ids from id i)[t.jobs_before + n.place], t.task_id, n.number, q.queue,
           case when (t.task_id, n.number) in (
                       select e.task_id, e.number
                         from workload.job e
                        where e.setup = p_setup and e.task_id = any (p_task_ids) and e.rebrokered > 0)
                then (select array_agg(e.queue order by e.rebrokered)
                        from workload.job e
                       where e.setup = p_setup and e.task_id = t.task_id and e.number = n.number) end,
           'defined', t.current_priority, t.gshare, t.label, t.user_name, t.working_group, t.processing_type,
           coalesce(q.child_type, t.resource_type), t.nucleus,
           case when t.core_count = 1 then 1 else coalesce(nullif(q.corecount, 0), 1) end,
           t.disk_io, q.workflow, v_now, v_now, v_now, coalesce(t.files[n.place], 0),
           coalesce(t.bytes[n.place], 0), coalesce(t.events[n.place], 0)
      from task t
     cross join lateral (
       select u.*, sum(u.jobs) over (order by u.place)::bigint as upto
         from unnest(t.queues, t.child_types, t.corecounts, t.workflows, t.jobs_at)
              with ordinality u (queue, child_type, corecount, workflow, jobs, place)) q
     cross join lateral (
       select g.place, t.numbers[g.place] as number
         from generate_series(q.upto - q.jobs + 1, least(q.upto, cardinality(t.numbers))) g (place)) n
    returning job_id, task_id, queue, resource_type, cores
  ), noted as (
    insert into workload.job_history (setup, at, job_id, to_status, role_name, why)
    select p_setup, v_now, m.job_id, 'defined', v_caller, p_why from made m order by m.job_id
  ), counted as (
    insert into workload.job_change (setup, at, jobs, to_status, task_id, queue, gshare, resource_type, nucleus, label,
                                     user_name, working_group, processing_type, cores, disk_io, disk_io_jobs)
    select p_setup, v_now, m.jobs, 'defined', t.task_id, m.queue, t.gshare, m.resource_type, t.nucleus, t.label,
           t.user_name, t.working_group, t.processing_type, m.cores, t.disk_io::numeric * m.jobs,
           case when t.disk_io is null then 0 else m.jobs end
      from (select m.task_id, m.queue, m.resource_type, count(*) as jobs, sum(m.cores) as cores
              from made m group by m.task_id, m.queue, m.resource_type) m
      join workload.task t on t.setup = p_setup and t.task_id = m.task_id
  )
  select count(*) into v_made from made;
  return v_made;
end $$;

comment on function workload.make_jobs(text, bigint[], text[], bigint[], text, boolean, text[]) is
  'Makes the given number of jobs of each task for each queue (parallel arrays), in status defined, on the first parts '
  'of the input that no job works on. p_by_output: see workload.fix_cutting. p_changes (parallel): only parts '
  'with these changes of retry rules (workload.changes_of_part; null means none); without it, any parts. Returns the '
  'number of jobs made, which is smaller if no more parts are open.';
