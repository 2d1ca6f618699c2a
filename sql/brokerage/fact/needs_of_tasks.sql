-- RETRIES.md, Jobs of tasks; conventions.md, Units; conventions.md, Kinds of task; conventions.md, Job size. For
-- merging, jobs are also counted by nFilesPerJob (analysis-weights.md, The new basic weight).
create or replace function brokerage.needs_of_tasks(
  p_setup text, p_task_ids bigint[], p_base_profile text, p_algorithm text
) returns table (
  task_id bigint, now timestamptz, label text, gshare text, processing_type text, working_group text, user_name text,
  resource_type text, task_priority int, current_priority int, frozen timestamptz, is_scout boolean,
  is_merging boolean, event_service int, event_service_parts float8, merge_output boolean, core_count int,
  task_core_count int, max_core_count int, ram_count float8, ram_per_core boolean, base_ram_count float8,
  cpu_time float8, cpu_time_is_hs06 boolean, cpu_efficiency float8, base_walltime float8, walltime float8,
  walltime_is_undefined boolean, out_disk_bytes float8, out_disk_per_event boolean, work_disk_bytes float8,
  io_intensity float8, disk_io float8, input_files bigint, input_bytes bigint, job_events bigint, job_input_mb float8,
  job_input_bytes bigint, jobs bigint, unassigned_jobs bigint, events bigint, dynamic_num_events bigint,
  max_events_per_job bigint, work float8, has_software boolean, allow_input_lan int, use_local_io boolean,
  input_pre_staging boolean, t1_weight float8, full_chain int, ip_connectivity text, ip_stack text,
  n_jumbo_jobs bigint, hpo_workflow boolean, nqueuelimitsite float8, min_weight float8, disk_threshold float8,
  changes text, failed_queues text[]
)
language sql stable as $$
  with share as materialized (
    select s.* from brokerage.limits_of_shares(p_setup, p_task_ids) s
  ), part as materialized (
    select g.* from brokerage.part_groups(p_setup, p_task_ids, p_algorithm) g where g.place = 1
  )
  select t.task_id, c.now, t.label, t.gshare, coalesce(t.processing_type, ''), t.working_group, t.user_name,
         t.resource_type, coalesce(t.task_priority, 0), coalesce(t.current_priority, 0), t.frozen,
         coalesce(t.use_scout, false), coalesce(t.is_merging, false),
         case when p_algorithm = 'analysis_job' then 0 else coalesce(t.event_service, 0) end::int,
         case when p_algorithm <> 'analysis_job' and t.event_service = 1
              then coalesce(t.n_es_consumers, 1)::float8
                   * coalesce(coalesce(t.max_attempt_es_job, t.max_attempt_es) + 1, 3)::float8
              else 1 end,
         coalesce(t.merge_output, false),
         case when t.is_merging and t.merge_core_count is not null then t.merge_core_count else t.core_count end,
         t.core_count, t.max_core_count,
         case when not coalesce(t.is_merging, false) then greatest(t.ram_count, t.chunk_ram_count)
              when t.merge_ram_count is not null then greatest(t.merge_ram_count, t.chunk_ram_count, 2000)
              else t.chunk_ram_count end * f.memory,
         coalesce(t.ram_unit in ('MBPerCore', 'MBPerCoreFixed'), false) and not coalesce(t.is_merging, false),
         case when t.is_merging or p_algorithm = 'analysis_job' and p_base_profile <> 'documented' then 0
              else coalesce(t.base_ram_count, 0) * f.memory end,
         case when t.cpu_time_unit like 'm%HS06%' then (t.cpu_time::numeric / 1000)::float8
              when t.cpu_time_unit like '%HS06%' then t.cpu_time end * f.time,
         coalesce(t.cpu_time_unit like '%HS06%', false), coalesce(t.cpu_efficiency, 90),
         coalesce(t.base_walltime, 0) * f.time, t.walltime * f.time,
         case when coalesce(t.cpu_time_unit, '') <> '' then coalesce(t.cpu_time, 0) = 0
              else coalesce(t.walltime, 0) = 0 and coalesce(t.walltime_unit, '') = '' end,
         greatest(coalesce(t.out_disk_count, 0), 0) * resource.bytes_of_unit(t.out_disk_unit),
         coalesce(t.out_disk_unit like '%PerEvent%', false),
         t.work_disk_count * resource.bytes_of_unit(t.work_disk_unit), t.io_intensity, t.disk_io,
         coalesce(d.files, 0), coalesce(d.size, 0), coalesce(i.job_events, 0), coalesce(i.job_input_mb, 0),
         coalesce(i.job_input_bytes, 0),
         coalesce(case when t.is_merging then ceil(d.primary_files::numeric / coalesce(t.n_files_per_job, 1))::bigint
                       else i.jobs end, 0),
         coalesce(g.parts, coalesce(i.jobs, 0) - coalesce(x.assigned_jobs, 0)), coalesce(d.events, 0),
         t.dynamic_num_events, t.max_events_per_job,
         coalesce(d.events, 0) * case when t.cpu_time is null then 300
                                      when t.cpu_time_unit like 'm%HS06%' then t.cpu_time / 1000
                                      else t.cpu_time end,
         p_algorithm = 'analysis_job' or coalesce(t.trans_home, '') <> '' or coalesce(t.container_name, '') <> '',
         t.allow_input_lan::int, coalesce(t.use_local_io, false), coalesce(t.input_pre_staging, false), t.t1_weight,
         t.full_chain::int, case t.ip_connectivity when 1 then 'full' when 2 then 'http' when 3 then 'none' end,
         case t.ip_stack when 4 then 'IPv4' when 6 then 'IPv6' end, t.n_jumbo_jobs, coalesce(t.hpo_workflow, false),
         s.nqueuelimitsite, s.min_weight, s.disk_threshold, g.changes, g.failed_queues
    from workload.task t
   cross join (select resource.clock(p_setup) as now offset 0) c
    left join workload.input_digest d on d.setup = t.setup and d.task_id = t.task_id
   cross join lateral (
     select case when b.by_output then d.jobs_by_output else d.jobs end as jobs,
            case when b.by_output then d.job_events_by_output else d.job_events end as job_events,
            case when b.by_output then d.job_input_mb_by_output else d.job_input_mb end as job_input_mb,
            case when b.by_output then d.job_input_bytes_by_output else d.job_input_bytes end as job_input_bytes
       from (select p_base_profile <> 'documented' and d.jobs_by_output is not null) b(by_output)) i
    left join brokerage.task_state x on x.setup = t.setup and x.task_id = t.task_id
                                     and x.algorithm = case p_algorithm when 'production_task' then 'production_job'
                                                                        else p_algorithm end
    left join part g on g.task_id = t.task_id
   cross join lateral (select coalesce(g.memory_factor, 1), coalesce(g.time_factor, 1)) f (memory, time)
    left join share s on s.label is not distinct from t.label and s.gshare is not distinct from t.gshare
   where t.setup = p_setup and t.task_id = any (p_task_ids)
$$;

comment on function brokerage.needs_of_tasks(text, bigint[], text, text) is
  'Properties and needs of tasks and their jobs, one row per task; the columns are those of brokerage.task_facts.';
