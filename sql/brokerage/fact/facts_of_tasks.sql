-- Tasks are read once per run: units and defaults are resolved, the configuration is looked up, and the links of the
-- nucleus are summed (conventions.md, Units; conventions.md, Missing values). Each part is materialized, since a plan
-- that does not know the number of tasks would scan a part for every task. Columns have the order of the type;
-- tests/core/brokerage/test_facts.py compares the names.
create or replace function brokerage.facts_of_tasks(
  p_setup text, p_task_ids bigint[], p_base_profile text, p_algorithm text
) returns setof brokerage.task_facts
language sql stable as $$
  with config as materialized (
    select c.config, coalesce((c.config -> 'core' ->> 'WORK_SHORTAGE')::boolean, false) as work_shortage,
           nullif((c.config -> 'jobbroker' ->> 'MAX_DISKIO_DEFAULT')::float8, 0) as max_diskio_default, j.*, t.*, a.*
      from (select resource.configuration(p_setup) offset 0) c(config)
     cross join lateral jsonb_to_record(c.config -> 'jobbroker')
                        j("NQUEUED_SAT_CAP" float8, "NQUEUED_NUC_CAP_FOR_JOBS" float8, "IO_INTENSITY_CUTOFF" float8,
                          "SIZE_CUTOFF_TO_MOVE_INPUT" float8, "NUM_CUTOFF_TO_MOVE_INPUT" float8,
                          "NW_THRESHOLD" float8, "NW_WEIGHT_MULTIPLIER" float8, "NW_ACTIVE" boolean,
                          "NW_QUEUE_IMPORTANCE" float8, "STORAGE_MIN_FREE_SIZE" float8, "MAX_PRIO_TO_BOOTSTRAP" float8)
     cross join lateral jsonb_to_record(c.config -> 'taskbrokerage')
                        t("NQUEUED_NUC_CAP" float8, "INPUT_SIZE_THRESHOLD" float8, "INPUT_SIZE_FRACTION" float8,
                          "INPUT_NUM_THRESHOLD" float8, "INPUT_NUM_FRACTION" float8,
                          "MIN_IO_INTENSITY_WITH_LOCAL_DATA" float8, "MIN_INPUT_SIZE_WITH_LOCAL_DATA" float8,
                          "MAX_TASK_PRIO_WITH_LOCAL_DATA" float8, "DATA_LOCATION_CHECK_PERIOD" float8,
                          "FREE_DISK_CUTOFF" float8)
     cross join lateral jsonb_to_record(case when p_algorithm = 'analysis_job' then c.config -> 'anal_jobbroker' end)
                        a("IO_INTENSITY_CUTOFF_USER" float8, "DATA_CHECK_TIMEOUT_USER" float8,
                          "MIN_BAD_JOBS_TO_SKIP_PQ" float8, "OVERLOAD_MIN_QUEUE" float8,
                          "OVERLOAD_RATIO_OFFSET" float8, "BASE_QUEUE_LENGTH_PER_PQ" float8,
                          "BASE_EXPECTED_WAIT_HOUR_ON_PQ" float8, "BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER" float8,
                          "BASE_QUEUE_RATIO_ON_PQ" float8, "STATIC_MAX_QUEUE_RUNNING_RATIO" float8,
                          "MAX_EXPECTED_WAIT_HOUR" float8, "STORAGE_MIN_FREE_SIZE_OUTPUT" float8)
  ), nucleus as materialized (
    select n.* from brokerage.nuclei_of_tasks(p_setup, p_task_ids, p_base_profile, p_algorithm) n
  ), site as materialized (
    select s.* from brokerage.sites_of_production(p_setup, p_task_ids, p_base_profile) s
     where p_algorithm <> 'analysis_job'
    union all
    select s.* from brokerage.sites_of_analysis(p_setup, p_task_ids, p_base_profile) s
     where p_algorithm = 'analysis_job'
  ), input as materialized (
    select i.task_id, i.problem as input_problem, null::boolean as is_distributed, null::text as wan_problem
      from brokerage.input_problem i
     where p_base_profile <> 'documented' and p_algorithm = 'production_job' and i.setup = p_setup
       and i.task_id = any (p_task_ids)
    union all
    select s.task_id, s.problem, null::boolean, null::text
      from brokerage.scan_problems(p_setup, p_task_ids) s
     where p_base_profile <> 'documented' and p_algorithm = 'production_task'
    union all
    select a.* from brokerage.inputs_of_analysis(p_setup, p_task_ids, p_base_profile) a
     where p_algorithm = 'analysis_job'
  ), account as materialized (
    select a.* from brokerage.facts_of_analysis(p_setup, p_task_ids, p_base_profile) a
     where p_algorithm = 'analysis_job'
  )
  select *, null::jsonb as runnable_at, case when p_algorithm = 'analysis_job' then false end as second_pass,
         null::text as arm
    from brokerage.needs_of_tasks(p_setup, p_task_ids, p_base_profile, p_algorithm)
    left join nucleus using (task_id)
    left join site using (task_id)
    left join input using (task_id)
    left join account using (task_id)
   cross join config
$$;

comment on function brokerage.facts_of_tasks(text, bigint[], text, text) is
  'Tasks of a setup as rules of an algorithm and base profile (documented, panda2026) see them; one row per existing '
  'task.';
