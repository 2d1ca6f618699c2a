-- STATES.md, From task to TaskQueue. The share is the group, so that group shares can follow global shares. CPUTime is
-- in seconds of a core of corepower 10 (HS06), PanDA's default. MinRAM is nine tenths of the memory that the task
-- states, as in the rule memory. So the agents of a queue that takes a job can also take it. An empty name is none.
-- Reading an architecture takes long, and few tasks want a GPU; only an architecture with & or { can ask for one.
create or replace function lifecycle.requirements_of(
  p_task workload.task, p_digest workload.input_digest, p_queue text, p_cores int, p_memory_factor numeric default 1,
  p_time_factor numeric default 1
) returns jsonb
language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'OwnerDN', coalesce(nullif(p_task.user_name, ''), nullif(p_task.orig_user, ''), nullif(p_task.label, ''),
                        'unknown'),
    'OwnerGroup', coalesce(nullif(p_task.gshare, ''), nullif(p_task.working_group, ''), nullif(p_task.label, ''),
                           'unknown'),
    'CPUTime', floor(least(greatest(p_time_factor::float8 * (coalesce(
                 case when p_task.cpu_time_unit like 'HS06s%'
                      then p_task.cpu_time * coalesce(p_digest.job_events, 1) * 100
                           / coalesce(nullif(p_task.cpu_efficiency, 0), 90) / 10
                      else p_task.walltime * coalesce(p_digest.job_input_mb, 1) end, 0)
                 + coalesce(p_task.base_walltime, 0) * p_cores), 0), 1e9))::bigint,
    'Sites', jsonb_build_array(p_queue),
    'Tags', case when p_cores > 1 then jsonb_build_array(p_cores || 'Processors') end,
    'MinRAM', nullif(floor(least(greatest(0.9 * p_memory_factor::float8 * case
                when not coalesce(p_task.is_merging, false)
                then coalesce(p_task.base_ram_count, 0)
                     + greatest(p_task.ram_count, p_task.chunk_ram_count, 0)
                     * case when p_task.ram_unit like 'MBPerCore%' then p_cores else 1 end
                when p_task.merge_ram_count is not null
                then greatest(p_task.merge_ram_count, p_task.chunk_ram_count, 2000)
                else coalesce(p_task.chunk_ram_count, 0) end, 0), 1e9))::bigint, 0),
    'Attributes', case when p_task.architecture like '%&%' or p_task.architecture like '%{%'
                       then lifecycle.gpu_demand(p_task.setup, p_task.architecture) end))
$$;

comment on function lifecycle.requirements_of(
  workload.task, workload.input_digest, text, int, numeric, numeric) is
  'Requirements of the jobs of a task at a queue, for taskqueue.insert_jobs: OwnerDN (user), OwnerGroup (share), '
  'CPUTime, Sites, Tags (cores), MinRAM and Attributes (a GPU). The factors are those of the part of the input '
  '(workload.failed_part).';
