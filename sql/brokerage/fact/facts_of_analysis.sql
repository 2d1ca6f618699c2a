-- Only the analysis broker reads these facts of a task: its user or group, the share, the class
-- (analysis-throttles.md). Caps are those of the working group if the task has one. The quota is the group's if the
-- group has a quota; in panda2026 it is always the user's.
create or replace function brokerage.facts_of_analysis(p_setup text, p_task_ids bigint[], p_base_profile text)
returns table (task_id bigint, account_running_jobs bigint, account_queued_jobs bigint, account_running_cores bigint,
               account_queued_cores bigint, cap_jobs float8, cap_cores float8, quota_used float8, quota_limit float8,
               quota_is_kept boolean, quota_is_near boolean, over_local text[], share_usage float8,
               share_usage_above float8, share_queued bigint, share_running bigint, task_class int, rem_slots_a float8,
               user_usage_threshold_a float8, throttled_at timestamptz)
language sql stable as $$
  with config as materialized (
    select p.*, e.*, resource.clock(p_setup) as now
      from (select resource.configuration(p_setup) offset 0) c(keys)
     cross join lateral jsonb_to_record(c.keys -> 'prio_mgr')
                        p("CAP_RUNNING_USER_JOBS" float8, "CAP_RUNNING_GROUP_JOBS" float8,
                          "CAP_RUNNING_USER_CORES" float8, "CAP_RUNNING_GROUP_CORES" float8)
     cross join lateral jsonb_to_record(c.keys -> 'analy_eval') e("USER_USAGE_THRESHOLD_A" float8)
  ), task as materialized (
    select t.task_id, t.gshare, t.user_name, nullif(t.working_group, '') as working_group,
           case when brokerage.is_current(t.task_classified, c.now, interval '15 minutes')
                then t.task_class end as task_class,
           case when t.working_group <> '' then 'group' else 'user' end as account_kind,
           coalesce(nullif(t.working_group, ''), t.user_name) as account_name
      from workload.task t cross join config c where t.setup = p_setup and t.task_id = any (p_task_ids)
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
  )
  select t.task_id,
         coalesce(a.running_jobs, 0)::bigint, coalesce(a.queued_jobs, 0)::bigint, coalesce(a.running_cores, 0)::bigint,
         coalesce(a.queued_cores, 0)::bigint,
         case when t.working_group is null then c."CAP_RUNNING_USER_JOBS" else c."CAP_RUNNING_GROUP_JOBS" end,
         case when t.working_group is null then c."CAP_RUNNING_USER_CORES" else c."CAP_RUNNING_GROUP_CORES" end,
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
         case when brokerage.is_current(u.evaluated, c.now, interval '20 minutes') then u.rem_slots_a end,
         c."USER_USAGE_THRESHOLD_A", w.throttled_at
    from task t
   cross join config c
    left join brokerage.task_state w on w.setup = p_setup and w.task_id = t.task_id and w.algorithm = 'analysis_job'
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
                              and brokerage.is_current(s.measured, c.now, interval '15 minutes')
    left join resource.share l on l.setup = p_setup and l.gshare = 'L1 User Analysis'
                              and brokerage.is_current(l.measured, c.now, interval '15 minutes')
    left join count_of_share n on n.gshare = t.gshare
$$;

comment on function brokerage.facts_of_analysis(text, bigint[], text) is
  'Accounts, quotas, shares and classes of analysis tasks, one row per task (base profile documented or panda2026); '
  'the columns are those of brokerage.task_facts.';
