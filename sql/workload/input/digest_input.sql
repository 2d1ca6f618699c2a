-- See DATA.md, Input of a task. Files are grouped before they are joined: without statistics of the setup, the planner
-- expects one row and would loop (a thousand tasks with 60,000 files would take minutes instead of a second). The rows
-- of the tasks are locked in order, so that two calls do not make the same rows.
create or replace function workload.digest_input(p_setup text, p_task_ids bigint[]) returns bigint
language plpgsql security definer set search_path = workload, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_digested bigint;
begin
  perform resource.identify(p_setup);
  perform from workload.task t
    where t.setup = p_setup and t.task_id = any (p_task_ids)
    order by t.task_id
      for no key update;
  delete from workload.input_digest i where i.setup = p_setup and i.task_id = any (p_task_ids);
  delete from workload.input_run i where i.setup = p_setup and i.task_id = any (p_task_ids);
  with task as materialized (
    select t.task_id, o.by_output, workload.cutting_in_force(t, o.by_output) as cutting
      from workload.task t
     cross join (values (false), (true)) o(by_output)
     where t.setup = p_setup and t.task_id = any (p_task_ids)
       and (not o.by_output or workload.cutting_in_force(t, true) is distinct from workload.cutting_in_force(t, false))
  ), grouped as materialized (
    select t.task_id, g.groups
      from task t
     cross join lateral workload.groups_of_input(p_setup, t.task_id) g
     where not t.by_output
  ), cut as materialized (
    select t.task_id, t.by_output, c.*
      from task t
      join grouped g on g.task_id = t.task_id
     cross join lateral workload.cut_input(t.cutting, g.groups) c
  ), stored as (
    insert into workload.input_run (setup, task_id, by_output, number, jobs, first_file, first_event, files, events,
                                    file_events, cuts)
    select p_setup, c.task_id, c.by_output, c.number, c.jobs, c.first_file, c.first_event,
           case when c.file_events is null then c.files end, c.events, c.file_events, c.cuts
      from cut c
  ), sum_of_cuts as (
    select c.task_id, c.by_output, sum(c.jobs) as jobs, max(c.most_events) as events, max(c.most_mb) as mb,
           max(c.most_bytes) as bytes
      from cut c
     group by c.task_id, c.by_output
  ), file as (
    select n.task_id, count(*) as files, sum(n.size) as size, bool_or(n.is_shared) as is_shared
      from (select d.task_id, (array_agg(coalesce(f.size, 0) order by d.position))[1] as size,
                   min(d.position) <> max(d.position) as is_shared
              from workload.task_dataset d
              join workload.dataset_file f on f.setup = p_setup and f.dataset = d.dataset
              left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
             where d.setup = p_setup and d.task_id = any (p_task_ids) and d.direction = 'input'
               and workload.is_pseudo(s) is not true
             group by d.task_id, f.lfn) n
     group by n.task_id
  )
  insert into workload.input_digest (setup, task_id, files, size, shared_files, primary_files, jobs, job_events,
                                     job_input_mb, job_input_bytes, events, jobs_by_output, job_events_by_output,
                                     job_input_mb_by_output, job_input_bytes_by_output)
  select p_setup, t.task_id, coalesce(f.files, 0), least(coalesce(f.size, 0), 9e18), coalesce(f.is_shared, false),
         coalesce(g.files, 0), coalesce(c.jobs, 0), coalesce(c.events, 0), coalesce(c.mb, 0), coalesce(c.bytes, 0),
         least(coalesce(g.events, 0), 9e18), o.jobs, o.events, o.mb, o.bytes
    from task t
    left join file f on f.task_id = t.task_id
    left join sum_of_cuts c on c.task_id = t.task_id and not c.by_output
    left join sum_of_cuts o on o.task_id = t.task_id and o.by_output
    left join (select e.task_id, sum(u.files) as files, sum(u.files::numeric * u.events) as events
                 from grouped e
                cross join lateral unnest(e.groups) u
                group by e.task_id) g on g.task_id = t.task_id
   where not t.by_output;
  get diagnostics v_digested = row_count;
  perform workload.digest_shared_files(p_setup, p_task_ids);
  return v_digested;
end $$;

comment on function workload.digest_input(text, bigint[]) is
  'Recomputes workload.input_digest and workload.input_run of tasks from their input datasets and returns the number '
  'of tasks. Call it when tasks or datasets change. Errors: PB002 (setup not granted).';
