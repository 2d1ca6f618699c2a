-- See DATA.md, Input of a task. Jobs are groups of primary files; the other datasets are sliced in parallel. The query
-- joins tables by their keys, and never a computed result: without statistics of the setup, the planner expects one row
-- there and would loop (a thousand tasks with 60,000 files take minutes instead of a second).
create or replace function workload.digest_input(p_setup text, p_task_ids bigint[]) returns bigint
language plpgsql security definer set search_path = workload, pg_temp as $$
declare
  v_digested bigint;
begin
  perform resource.identify(p_setup);
  perform pg_advisory_xact_lock(hashtext('digest_input'), hashtext(p_setup));  -- else two calls make the same rows
  delete from workload.input_digest i where i.setup = p_setup and i.task_id = any (p_task_ids);
  insert into workload.input_digest (setup, task_id, files, size, shared_files, primary_files, jobs, job_events,
                                     job_input_mb, job_input_bytes, events)
  with file as materialized (
    select f.task_id, f.number as job, f.position, f.is_main, f.is_pseudo, f.lfn, f.size, f.nevents,
           max(f.number) filter (where f.is_main) over (partition by f.task_id) as last_job
      from workload.job_file(p_setup, p_task_ids) f
  )
  select p_setup, x.task_id, max(x.files), max(x.size), bool_or(x.is_shared), max(x.primary_files), max(x.jobs),
         max(x.job_events), max(x.job_mb), max(x.job_bytes), max(x.events)
    from (
      select t.task_id, 0::bigint as files, 0::numeric as size, false as is_shared, 0::bigint as primary_files,
             0::bigint as jobs, 0::numeric as job_events, 0::float8 as job_mb, 0::numeric as job_bytes,
             0::numeric as events
        from workload.task t where t.setup = p_setup and t.task_id = any (p_task_ids)
      union all
      select n.task_id, count(*), sum(n.size), bool_or(n.is_shared), 0, 0, 0, 0, 0, 0
        from (select f.task_id, (array_agg(f.size order by f.position))[1] as size,
                     min(f.position) <> max(f.position) as is_shared
                from file f where not f.is_pseudo group by f.task_id, f.lfn) n
       group by n.task_id
      union all
      select j.task_id, 0, 0, false, sum(j.files), count(*), max(j.events), max(j.mb), 0, sum(j.events)
        from (select f.task_id, count(*) as files, sum(f.nevents) as events,
                     sum(case when f.size = 0 then 1 else f.size::float8 / 1048576 end) as mb
                from file f where f.is_main group by f.task_id, f.job) j
       group by j.task_id
      union all
      select b.task_id, 0, 0, false, 0, 0, 0, 0, sum(b.size), 0
        from (select f.task_id, f.job, max(f.size) as size from file f
               where f.job <= f.last_job
               group by f.task_id, f.job, f.lfn) b
       group by b.task_id, b.job) x
   group by x.task_id;
  get diagnostics v_digested = row_count;
  return v_digested;
end $$;

comment on function workload.digest_input(text, bigint[]) is
  'Recomputes workload.input_digest of tasks from their input datasets and returns the number of tasks. Call it when '
  'tasks or datasets change. Errors: PB002 (setup not granted).';
