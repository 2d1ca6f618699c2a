-- Tasks as rules see them, made once a run: units and defaults resolved, configuration looked up, the nucleus and its
-- links summed up (conventions.md, Units; conventions.md, Missing values; conventions.md, Kinds of task;
-- conventions.md, Job size). Columns have the order of the type; tests/core/brokerage/test_facts.py compares.
create or replace function brokerage.facts_of_tasks(
  p_setup text, p_task_ids bigint[], p_base_profile text, p_algorithm text
) returns setof brokerage.task_facts
language sql stable as $$
  with config as materialized (
    select a.keys as all_keys, a.keys -> 'jobbroker' as job_keys, a.keys -> 'taskbrokerage' as task_keys,
           resource.clock(p_setup) as now
      from (select resource.configuration(p_setup) offset 0) a(keys)
  ), share as materialized (
    select s.label, s.gshare,
           resource.config_value(p_setup, 'jedi', 'jobbroker', 'NQUEUELIMITSITE_' || s.gshare) as nqueuelimitsite,
           resource.config_value(p_setup, 'jedi', 'taskbrokerage', 'DISK_THRESHOLD_' || s.gshare) as disk_threshold,
           coalesce(resource.config_value(p_setup, 'jedi', 'jobbroker', 'MIN_WEIGHT_' || s.label || '_' || s.gshare),
                    resource.config_value(p_setup, 'jedi', 'jobbroker', 'MIN_WEIGHT_' || s.label)) as min_weight
      from (select distinct t.label, t.gshare from workload.task t
             where t.setup = p_setup and t.task_id = any (p_task_ids)) s
  ), link as materialized (
    select l.dst, sum(coalesce(l.queued, 0)) as queued, sum(coalesce(l.queued_express, 0)) as queued_express
      from resource.link l where l.setup = p_setup group by l.dst
  ), located as materialized (  -- the input whose place counts for a nucleus
    select i.task_id, count(f.lfn) as files, sum(f.size) as bytes
      from workload.task_dataset i
      join workload.task t on t.setup = i.setup and t.task_id = i.task_id
      join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
      join workload.dataset_file f on f.setup = i.setup and f.dataset = i.dataset
     where p_algorithm = 'production_task' and i.setup = p_setup and i.task_id = any (p_task_ids)
       and i.direction = 'input' and not workload.is_pseudo(d)
       and (i.position = 1 or not coalesce(t.task_broker_on_master, false))
       and (p_base_profile = 'documented' or brokerage.is_scanned(i.dataset))
     group by i.task_id
  ), problem as materialized (
    select i.task_id, i.problem from brokerage.input_problem i
     where p_base_profile <> 'documented' and p_algorithm = 'production_job' and i.setup = p_setup
       and i.task_id = any (p_task_ids)
    union all
    select s.task_id, s.problem from brokerage.scan_problems(p_setup, p_task_ids) s
     where p_base_profile <> 'documented' and p_algorithm = 'production_task'
  ), analysis as materialized (
    select f.*
      from brokerage.facts_of_analysis(p_setup, p_task_ids, p_base_profile) f
     where p_algorithm = 'analysis_job'
  )
  select t.task_id as task_id,
         c.now as now,
         t.label as label,
         t.gshare as gshare,
         coalesce(t.processing_type, '') as processing_type,
         t.working_group as working_group,
         t.user_name as user_name,
         t.resource_type as resource_type,
         coalesce(t.task_priority, 0) as task_priority,
         coalesce(t.current_priority, 0) as current_priority,
         coalesce(t.use_scout, false) as is_scout,
         coalesce(t.is_merging, false) as is_merging,
         case when p_algorithm = 'analysis_job' then 0 else coalesce(t.event_service, 0) end::int as event_service,
         coalesce(t.merge_output, false) as merge_output,
         case when p_algorithm = 'analysis_job' then a.preassigned else p.queues end as preassigned,
         case when p_algorithm = 'analysis_job' then case when a.preassigned is not null then 'preassigned' end
              else p.by end as preassigned_by,
         case when t.is_merging and t.merge_core_count is not null then t.merge_core_count
              else t.core_count end as core_count,
         t.core_count as task_core_count,
         t.max_core_count as max_core_count,
         case when not coalesce(t.is_merging, false) then greatest(t.ram_count, t.chunk_ram_count)
              when t.merge_ram_count is not null then greatest(t.merge_ram_count, t.chunk_ram_count, 2000)
              else t.chunk_ram_count end as ram_count,
         coalesce(t.ram_unit in ('MBPerCore', 'MBPerCoreFixed'), false)
         and not coalesce(t.is_merging, false) as ram_per_core,
         case when t.is_merging or p_algorithm = 'analysis_job' and p_base_profile <> 'documented' then 0
              else coalesce(t.base_ram_count, 0) end as base_ram_count,
         case when t.cpu_time_unit like 'm%HS06%' then (t.cpu_time::numeric / 1000)::float8
              when t.cpu_time_unit like '%HS06%' then t.cpu_time end as cpu_time,
         coalesce(t.cpu_time_unit like '%HS06%', false) as cpu_time_is_hs06,
         coalesce(t.cpu_efficiency, 90) as cpu_efficiency,
         coalesce(t.base_walltime, 0) as base_walltime,
         t.walltime as walltime,
         case when coalesce(t.cpu_time_unit, '') <> '' then coalesce(t.cpu_time, 0) = 0
              else coalesce(t.walltime, 0) = 0 and coalesce(t.walltime_unit, '') = '' end as walltime_is_undefined,
         greatest(coalesce(t.out_disk_count, 0), 0) * resource.bytes_of_unit(t.out_disk_unit) as out_disk_bytes,
         coalesce(t.out_disk_unit like '%PerEvent%', false) as out_disk_per_event,
         t.work_disk_count * resource.bytes_of_unit(t.work_disk_unit) as work_disk_bytes,
         t.io_intensity as io_intensity,
         t.disk_io as disk_io,
         coalesce(d.files, 0) as input_files,
         coalesce(d.size, 0) as input_bytes,
         coalesce(d.job_events, 0) as job_events,
         coalesce(d.job_input_mb, 0) as job_input_mb,
         coalesce(d.job_input_bytes, 0) as job_input_bytes,
         -- merging counts by nFilesPerJob, too (analysis-weights.md, The new basic weight)
         coalesce(case when t.is_merging then ceil(d.primary_files::numeric / coalesce(t.n_files_per_job, 1))::bigint
                       else d.jobs end, 0) as jobs,
         coalesce(d.jobs, 0) - coalesce(x.assigned_jobs, 0) as unassigned_jobs,
         coalesce(d.events, 0) as events,
         t.dynamic_num_events as dynamic_num_events,
         t.max_events_per_job as max_events_per_job,
         case when p_algorithm <> 'analysis_job' and t.event_service = 1
              then coalesce(t.n_es_consumers, 1)::float8
                   * coalesce(coalesce(t.max_attempt_es_job, t.max_attempt_es) + 1, 3)::float8
              else 1 end as event_service_parts,
         p_algorithm = 'analysis_job' or coalesce(t.trans_home, '') <> ''
         or coalesce(t.container_name, '') <> '' as has_software,
         t.allow_input_lan::int as allow_input_lan,
         coalesce(t.use_local_io, false) as use_local_io,
         coalesce(t.input_pre_staging, false) as input_pre_staging,
         t.t1_weight as t1_weight,
         t.full_chain::int as full_chain,
         case t.ip_connectivity when 1 then 'full' when 2 then 'http' when 3 then 'none' end as ip_connectivity,
         case t.ip_stack when 4 then 'IPv4' when 6 then 'IPv6' end as ip_stack,
         t.n_jumbo_jobs as n_jumbo_jobs,
         coalesce(t.hpo_workflow, false) as hpo_workflow,
         t.nucleus as nucleus,
         m.mode as nucleus_mode,
         coalesce(l.queued, 0)::bigint as nucleus_queued,
         coalesce(l.queued_express, 0)::bigint as nucleus_queued_express,
         u.nucleus is null as nucleus_is_writable,
         coalesce(i.problem, a.input_problem) as input_problem,
         (c.job_keys ->> 'NQUEUED_SAT_CAP')::float8 as nqueued_sat_cap,
         (c.job_keys ->> 'NQUEUED_NUC_CAP_FOR_JOBS')::float8 as nqueued_nuc_cap_for_jobs,
         (c.job_keys ->> 'IO_INTENSITY_CUTOFF')::float8 as io_intensity_cutoff,
         (c.job_keys ->> 'SIZE_CUTOFF_TO_MOVE_INPUT')::float8 as size_cutoff_to_move_input,
         (c.job_keys ->> 'NUM_CUTOFF_TO_MOVE_INPUT')::float8 as num_cutoff_to_move_input,
         nullif((c.job_keys ->> 'MAX_DISKIO_DEFAULT')::float8, 0) as max_diskio_default,
         (c.job_keys ->> 'NW_THRESHOLD')::float8 as nw_threshold,
         (c.job_keys ->> 'NW_WEIGHT_MULTIPLIER')::float8 as nw_weight_multiplier,
         (c.job_keys ->> 'NW_ACTIVE')::boolean as nw_active,
         (c.job_keys ->> 'NW_QUEUE_IMPORTANCE')::float8 as nw_queue_importance,
         (c.job_keys ->> 'STORAGE_MIN_FREE_SIZE')::float8 as storage_min_free_size,
         coalesce((c.all_keys -> 'core' ->> 'WORK_SHORTAGE')::boolean, false) as work_shortage,
         (c.job_keys ->> 'MAX_PRIO_TO_BOOTSTRAP')::float8 as max_prio_to_bootstrap,
         coalesce((s.nqueuelimitsite #>> '{}')::float8, 20) as nqueuelimitsite,
         coalesce((s.min_weight #>> '{}')::float8, 0) as min_weight,
         c.all_keys as config,
         coalesce(d.events, 0) * case when t.cpu_time is null then 300
                                      when t.cpu_time_unit like 'm%HS06%' then t.cpu_time / 1000
                                      else t.cpu_time end as work,
         coalesce(w.files, 0)::bigint as located_files,
         coalesce(w.bytes, 0)::bigint as located_bytes,
         n.nucleus is not null or f.nucleus is not null or o.nucleus is not null as is_preset,
         pt.nucleus as parent_nucleus,
         pt.full_chain::int as parent_full_chain,
         pm.mode as parent_nucleus_mode,
         t.frozen as frozen,
         (c.task_keys ->> 'NQUEUED_NUC_CAP')::float8 as nqueued_nuc_cap,
         coalesce((s.disk_threshold #>> '{}')::float8, (c.task_keys ->> 'DISK_THRESHOLD')::float8) as disk_threshold,
         (c.task_keys ->> 'INPUT_SIZE_THRESHOLD')::float8 as input_size_threshold,
         (c.task_keys ->> 'INPUT_SIZE_FRACTION')::float8 as input_size_fraction,
         (c.task_keys ->> 'INPUT_NUM_THRESHOLD')::float8 as input_num_threshold,
         (c.task_keys ->> 'INPUT_NUM_FRACTION')::float8 as input_num_fraction,
         (c.task_keys ->> 'MIN_IO_INTENSITY_WITH_LOCAL_DATA')::float8 as min_io_intensity_with_local_data,
         (c.task_keys ->> 'MIN_INPUT_SIZE_WITH_LOCAL_DATA')::float8 as min_input_size_with_local_data,
         (c.task_keys ->> 'MAX_TASK_PRIO_WITH_LOCAL_DATA')::float8 as max_task_prio_with_local_data,
         (c.task_keys ->> 'DATA_LOCATION_CHECK_PERIOD')::float8 as data_location_check_period,
         (c.task_keys ->> 'FREE_DISK_CUTOFF')::float8 as free_disk_cutoff,
         null::jsonb as runnable_at,
         a.account_running_jobs as account_running_jobs,
         a.account_queued_jobs as account_queued_jobs,
         a.account_running_cores as account_running_cores,
         a.account_queued_cores as account_queued_cores,
         a.cap_jobs as cap_jobs,
         a.cap_cores as cap_cores,
         a.quota_used as quota_used,
         a.quota_limit as quota_limit,
         a.quota_is_kept as quota_is_kept,
         a.quota_is_near as quota_is_near,
         a.over_local as over_local,
         a.share_usage as share_usage,
         a.share_usage_above as share_usage_above,
         a.share_queued as share_queued,
         a.share_running as share_running,
         a.task_class as task_class,
         a.rem_slots_a as rem_slots_a,
         a.user_usage_threshold_a as user_usage_threshold_a,
         a.included_sites as included_sites,
         a.excluded_sites as excluded_sites,
         a.sites as sites,
         a.limited_sites as limited_sites,
         a.sites_used as sites_used,
         a.avoid_vp as avoid_vp,
         a.cloud as cloud,
         a.n_gb_per_job as n_gb_per_job,
         a.is_distributed as is_distributed,
         a.has_platform as has_platform,
         a.wan_problem as wan_problem,
         case when p_algorithm = 'analysis_job' then false end as second_pass,
         a.io_intensity_cutoff_user as io_intensity_cutoff_user,
         a.data_check_timeout_user as data_check_timeout_user,
         a.min_bad_jobs_to_skip_pq as min_bad_jobs_to_skip_pq,
         a.overload_min_queue as overload_min_queue,
         a.overload_ratio_offset as overload_ratio_offset,
         a.base_queue_length_per_pq as base_queue_length_per_pq,
         a.base_expected_wait_hour_on_pq as base_expected_wait_hour_on_pq,
         a.base_default_queue_length_per_pq_user as base_default_queue_length_per_pq_user,
         a.base_queue_ratio_on_pq as base_queue_ratio_on_pq,
         a.static_max_queue_running_ratio as static_max_queue_running_ratio,
         a.max_expected_wait_hour as max_expected_wait_hour,
         a.storage_min_free_size_output as storage_min_free_size_output,
         null::text as arm
    from workload.task t
   cross join config c
    left join workload.input_digest d on d.setup = t.setup and d.task_id = t.task_id
    left join workload.task_dataset i1 on i1.setup = t.setup and i1.task_id = t.task_id and i1.direction = 'input'
                                      and i1.position = 1
    left join workload.dataset d1 on d1.setup = i1.setup and d1.dataset = i1.dataset
    left join share s on s.label is not distinct from t.label and s.gshare is not distinct from t.gshare
    left join link l on l.dst = t.nucleus
    left join resource.nucleus n on n.setup = t.setup and n.nucleus = t.nucleus
    left join brokerage.first_nucleus_queue f on f.setup = t.setup and f.nucleus = t.nucleus
    -- or a satellite with a mode
    left join brokerage.nucleus_site o on p_algorithm = 'production_task' and p_base_profile <> 'documented'
                                      and o.setup = t.setup and o.nucleus = t.nucleus
    left join brokerage.unwritable_nucleus u on u.setup = t.setup and u.nucleus = t.nucleus
   cross join lateral (select brokerage.bare_nucleus(n.bare_nucleus, f.attributes)) m(mode)
   cross join lateral (select * from brokerage.preassignment(t, d1, c.now, p_base_profile)) p
    left join analysis a on a.task_id = t.task_id
    left join problem i on i.task_id = t.task_id
    left join located w on w.task_id = t.task_id
    left join brokerage.task_state x on x.setup = t.setup and x.task_id = t.task_id
                                     and x.algorithm = case p_algorithm when 'production_task' then 'production_job'
                                                                        else p_algorithm end
    left join workload.task pt on p_algorithm = 'production_task' and pt.setup = t.setup and pt.task_id = t.parent
                              and pt.task_id <> t.task_id
    left join resource.nucleus pn on pn.setup = t.setup and pn.nucleus = pt.nucleus
    left join brokerage.nucleus_site ps on ps.setup = t.setup and ps.nucleus = pt.nucleus
   cross join lateral (select brokerage.bare_nucleus(pn.bare_nucleus, ps.attributes)) pm(mode)
   where t.setup = p_setup and t.task_id = any (p_task_ids)
$$;

comment on function brokerage.facts_of_tasks(text, bigint[], text, text) is
  'Tasks of a setup as rules of an algorithm and base profile (documented, panda2026) see them; '
  'one row a task that is there.';
