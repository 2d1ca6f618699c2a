-- Facts of a task that only the analysis broker reads: its user or group, the share, the queues that it names, its
-- configuration (analysis-throttles.md). Caps are those of the working group if the task has one. The quota is the
-- group's if the group has one, in panda2026 always the user's.
create or replace function brokerage.facts_of_analysis(p_setup text, p_task_ids bigint[], p_base_profile text)
returns table (task_id bigint, account_running_jobs bigint, account_queued_jobs bigint, account_running_cores bigint,
               account_queued_cores bigint, cap_jobs float8, cap_cores float8, quota_used float8, quota_limit float8,
               quota_is_kept boolean, quota_is_near boolean, over_local text[], share_usage float8,
               share_usage_above float8, share_queued bigint, share_running bigint, task_class int, rem_slots_a float8,
               user_usage_threshold_a float8, included_sites text[], excluded_sites text[], sites text[],
               preassigned text[], limited_sites boolean, sites_used text[], avoid_vp boolean, cloud text,
               n_gb_per_job float8, is_distributed boolean, has_platform boolean, input_problem text, wan_problem text,
               io_intensity_cutoff_user float8, data_check_timeout_user float8, min_bad_jobs_to_skip_pq float8,
               overload_min_queue float8, overload_ratio_offset float8, base_queue_length_per_pq float8,
               base_expected_wait_hour_on_pq float8, base_default_queue_length_per_pq_user float8,
               base_queue_ratio_on_pq float8, static_max_queue_running_ratio float8, max_expected_wait_hour float8,
               storage_min_free_size_output float8)
language sql stable as $$
  with config as materialized (
    select c.all_keys -> 'anal_jobbroker' as keys, c.all_keys -> 'prio_mgr' as caps,
           c.all_keys -> 'analy_eval' as classes
      from (select resource.configuration(p_setup)) c(all_keys)
  ), moment as materialized (
    select resource.clock(p_setup) as now
  ), task as materialized (
    select t.task_id, t.gshare, t.user_name, nullif(t.working_group, '') as working_group,
           case when brokerage.is_current(t.task_classified, c.now, interval '15 minutes')
                then t.task_class end as task_class,
           case when t.working_group <> '' then 'group' else 'user' end as account_kind,
           coalesce(nullif(t.working_group, ''), t.user_name) as account_name,
           t.included_site, t.excluded_site, t.site, t.limited_sites,
           t.sites_used, t.avoid_vp, t.cloud, t.n_gb_per_job, t.allow_incomplete_in_ds, t.architecture
      from workload.task t cross join moment c where t.setup = p_setup and t.task_id = any (p_task_ids)
  ), account as materialized (
    select c.kind, c.name, sum(c.running_jobs) as running_jobs, sum(c.queued_jobs) as queued_jobs,
           sum(c.running_cores) as running_cores, sum(c.queued_cores) as queued_cores
      from (select distinct t.account_kind, t.account_name from task t) t
      join workload.account_job c on c.setup = p_setup and c.kind = t.account_kind and c.name = t.account_name
     group by c.kind, c.name
  ), count_of_share as materialized (
    select c.gshare,
           sum(c.defined + c.assigned + c.activated + c.starting)::bigint as queued,
           sum(c.running)::bigint as running
      from workload.job_count c where c.setup = p_setup and c.gshare in (select t.gshare from task t) group by c.gshare
  ), input as materialized (
    select t.task_id, i.dataset, t.allow_incomplete_in_ds, d.distributed
      from task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d)
  ), source as materialized (  -- input-completeness, by the limits of this broker
    select r.dataset, bool_or(brokerage.is_usable(s.read_lan)) as can_read_lan,
           bool_or(brokerage.is_usable(s.read_wan)) as can_read_wan
      from workload.replica_state r
     cross join config c
      left join resource.storage s on s.setup = r.setup and s.storage = r.storage
     where p_base_profile <> 'documented' and r.setup = p_setup and r.dataset in (select i.dataset from input i)
       and (r.is_complete
            or r.found > 0 and r.total > 0 and (r.total - r.found <= (c.keys ->> 'MAX_MISSING_INPUT_FILES')::float8
                                                or r.found * 100
                                                     >= r.total * (c.keys ->> 'MIN_INPUT_COMPLETENESS')::float8))
     group by r.dataset
  ), data as materialized (
    select i.task_id, bool_or(i.distributed) as is_distributed,
           min(format('dataset %s is complete at no readable storage', i.dataset))
             filter (where not coalesce(i.allow_incomplete_in_ds, false) and not coalesce(i.distributed, false)
                     and (s.can_read_lan or s.can_read_wan) is not true) as input_problem,
           min(format('dataset %s can be read over WAN nowhere',
                      i.dataset)) filter (where s.can_read_wan is not true) as wan_problem
      from input i
      left join source s on s.dataset = i.dataset
     group by i.task_id
  )
  select t.task_id,
         coalesce(a.running_jobs, 0)::bigint, coalesce(a.queued_jobs, 0)::bigint, coalesce(a.running_cores, 0)::bigint,
         coalesce(a.queued_cores, 0)::bigint,
         (c.caps ->> case when t.working_group is null then 'CAP_RUNNING_USER_JOBS'
                          else 'CAP_RUNNING_GROUP_JOBS' end)::float8,
         (c.caps ->> case when t.working_group is null then 'CAP_RUNNING_USER_CORES'
                          else 'CAP_RUNNING_GROUP_CORES' end)::float8,
         k.used, k.quota_limit,
         case when jsonb_typeof(k.quota) = 'object'
              then coalesce((nullif(k.quota -> 'ok', 'null')) = 'true',
                            not (k.quota_limit > 0 and k.used > k.quota_limit), true) end,
         coalesce((nullif(k.quota -> 'near_limit', 'null')) = 'true',
                  k.quota_limit > 0 and k.used > 0.9 * k.quota_limit, false),
         case when jsonb_typeof(u.quota -> 'over_local') = 'array'
              then array(select jsonb_array_elements_text(u.quota -> 'over_local')) end,
         coalesce(s.usage_percent, s.running / nullif(s.target, 0)),
         coalesce(l.equivalent_usage_percent, s.equivalent_usage_percent),
         coalesce(n.queued, 0), coalesce(n.running, 0),
         t.task_class::int,
         case when brokerage.is_current(u.evaluated, m.now, interval '20 minutes') then u.rem_slots_a end,
         (c.classes ->> 'USER_USAGE_THRESHOLD_A')::float8,
         case when cardinality(t.included_site || p.storage_queues) > 0
              then brokerage.name_patterns(p_setup, t.included_site || p.storage_queues,
                                           p_base_profile <> 'documented') end,
         -- most tasks name none, and the call is dear
         case when cardinality(t.excluded_site) > 0
              then brokerage.name_patterns(p_setup, t.excluded_site, p_base_profile <> 'documented') end,
         case when cardinality(p.names) > 0 then brokerage.name_patterns(p_setup, p.names, false) end, p.names,
         t.limited_sites is not null or cardinality(p.storage_queues) > 0,
         coalesce(t.sites_used, '{}'), coalesce(t.avoid_vp, false), t.cloud, t.n_gb_per_job,
         coalesce(d.is_distributed, false),
         p_base_profile <> 'documented'
         and coalesce(brokerage.read_architecture(t.architecture, p_base_profile) ->> 'sw_platform', '') <> '',
         case when p_base_profile <> 'documented' then d.input_problem end,
         case when p_base_profile <> 'documented' then d.wan_problem end,
         (c.keys ->> 'IO_INTENSITY_CUTOFF_USER')::float8, (c.keys ->> 'DATA_CHECK_TIMEOUT_USER')::float8,
         (c.keys ->> 'MIN_BAD_JOBS_TO_SKIP_PQ')::float8,
         (c.keys ->> 'OVERLOAD_MIN_QUEUE')::float8, (c.keys ->> 'OVERLOAD_RATIO_OFFSET')::float8,
         (c.keys ->> 'BASE_QUEUE_LENGTH_PER_PQ')::float8,
         (c.keys ->> 'BASE_EXPECTED_WAIT_HOUR_ON_PQ')::float8,
         (c.keys ->> 'BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER')::float8,
         (c.keys ->> 'BASE_QUEUE_RATIO_ON_PQ')::float8,
         (c.keys ->> 'STATIC_MAX_QUEUE_RUNNING_RATIO')::float8, (c.keys ->> 'MAX_EXPECTED_WAIT_HOUR')::float8,
         (c.keys ->> 'STORAGE_MIN_FREE_SIZE_OUTPUT')::float8
    from task t
   cross join config c
   cross join moment m
    left join resource.account u on u.setup = p_setup and u.kind = 'user' and u.name = t.user_name
    left join resource.account g on g.setup = p_setup and g.kind = 'group' and g.name = t.working_group
   cross join lateral (select case when p_base_profile = 'documented' then coalesce(nullif(g.quota, 'null'), u.quota)
                                   else u.quota end) o(quota)
   cross join lateral (
     select o.quota, case when jsonb_typeof(o.quota -> 'used') = 'number' then (o.quota ->> 'used')::float8 end,
            case when jsonb_typeof(o.quota -> 'limit') = 'number'
                 then (o.quota ->> 'limit')::float8 end) k(quota, used, quota_limit)
    left join account a on a.kind = t.account_kind and a.name = t.account_name
    left join resource.share s on s.setup = p_setup and s.gshare = t.gshare
                              and brokerage.is_current(s.measured, m.now, interval '15 minutes')
    left join resource.share l on l.setup = p_setup and l.gshare = 'L1 User Analysis'
                              and brokerage.is_current(l.measured, m.now, interval '15 minutes')
    left join count_of_share n on n.gshare = t.gshare
    left join data d on d.task_id = t.task_id
   cross join lateral (  -- a site that is no queue, but a storage, stands for the queues that read it (panda2026)
         select nullif(array_agg(m.name) filter (where not m.is_storage), '{}'), array_remove(array_agg(r.queue), null)
           from (select n.name,
                        p_base_profile <> 'documented'
                        and not exists (select from resource.queue q
                                         where q.setup = p_setup and q.queue = split_part(n.name, '/', 1))
                        and exists (select from resource.queue_storage x
                                     where x.setup = p_setup and x.storage = n.name
                                       and x.direction = 'read_lan') as is_storage
                   from unnest(resource.names_of_list(t.site)) n(name)) m
           left join resource.queue_storage r on m.is_storage and r.setup = p_setup and r.storage = m.name
                                             and r.direction = 'read_lan') p(names, storage_queues)
$$;

comment on function brokerage.facts_of_analysis(text, bigint[], text) is
  'What only analysis_job reads of tasks, one row each (base profile documented or panda2026); the columns are those '
  'of brokerage.task_facts.';
