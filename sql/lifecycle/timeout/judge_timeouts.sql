-- lifecycle.md, Timeouts: each job against each rule. What acts (lifecycle.overdue) and what explains
-- (lifecycle.explain_timeouts) read the same rows. Planned anew at each call: some jobs, all jobs, and all rules of
-- one are three different queries.
create or replace function lifecycle.judge_timeouts(
  p_setup text, p_job_ids bigint[] default null, p_all boolean default false
) returns table (job_id bigint, task_id bigint, place int, rule text, status text, action text, clock text,
                 since timestamptz, time_limit interval, limit_from text, is_leased boolean, obstacle text)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_profile text := coalesce((select s.timeouts from lifecycle.setting_in_force s where s.setup = p_setup),
                             'documented');
begin
  return query
  with rule as materialized (  -- what the configuration says of limits is read once
    select r.*,
           resource.number_or_null(
             jsonb_build_object('value', resource.config_value(p_setup, 'pandaserver', split_part(r.key, ':', 1),
                                                               split_part(r.key, ':', 2))), 'value') as key_value,
           (to_jsonb(s) ->> r.queue_setting)::interval as setting_value,
           split_part(split_part(r.key_by_name, ':', 2), '<', 1) as name_prefix,
           case when r.queue_setting is not null then r.queue_setting else 'fixed' end as setting_name
      from lifecycle.timeout_rule r
      left join taskqueue.setting s on s.setup = p_setup
     where r.profile = v_profile
  ), named as materialized (
    select r.position, n.name,
           resource.number_or_null(
             jsonb_build_object('value',
                                resource.config_value(
                                  p_setup, 'pandaserver', split_part(r.key_by_name, ':', 1), r.name_prefix || n.name)),
             'value') as value
      from rule r
     cross join lateral (select distinct substr(c.key, length(r.name_prefix) + 1) as name from resource.config c
                          where c.app = 'pandaserver' and starts_with(c.key, r.name_prefix)
                            and c.component in ('', split_part(r.key_by_name, ':', 1))) n
     where r.key_by_name is not null
  ), reach as materialized (
    -- each rule by status, and the least limit that it may have: what is younger is looked at no further
    select r.position, t.to_status as status, r.rule, r.clock, r.labels,
           coalesce(r.priority_from, -2147483648) as priority_from, coalesce(r.priority_to, 2147483647) as priority_to,
           v_now - least((select least(greatest(min(n.value), 0), 1e6) from named n
                           where n.position = r.position and n.value is not null
                          having count(*) > 0) * r.unit,
                         case when r.key_value is not null then least(greatest(r.key_value, 0), 1e6) * r.unit end,
                         (select min(case r.queue_column when 'transtimehi' then nullif(greatest(q.transtimehi, 0), 0)
                                                         else nullif(greatest(q.transtimelo, 0), 0) end)
                            from resource.queue q
                           where q.setup = p_setup and r.queue_column is not null) * r.unit,
                         r.setting_value, r.constant) as oldest
      from rule r
     cross join (select distinct x.to_status from workload.transition x) t
     where t.to_status = any (r.statuses) or p_all and not workload.is_end(t.to_status)
  ), near as materialized (
    select j.job_id, j.task_id, j.queue, j.status, j.sub_status, j.label, j.priority, j.processing_type, j.workflow,
           j.working_group, j.relocation_flag, j.created, j.modified, j.state_changed, j.activated, c.position
      from workload.job j
      join reach c on c.status = j.status
     where j.setup = p_setup and j.ended is null and (p_job_ids is null or j.job_id = any (p_job_ids))
       and (p_all
            or (c.rule = 'sent'
                or case c.clock when 'created' then j.created
                                when 'modified' then j.modified
                                when 'state_changed' then j.state_changed
                                else coalesce(j.activated, j.created) end < c.oldest)
               and (c.labels is null or j.label = any (c.labels))
               and coalesce(j.priority, 0) between c.priority_from and c.priority_to)
  ), aged as materialized (
    select j.job_id, j.task_id, j.queue, j.status, j.sub_status, j.label, j.priority, j.processing_type,
           j.relocation_flag, j.state_changed, r.position, x.since, g.modified, m.time_limit,
           v.limit_from, l.job_id is not null as is_leased,
           case when l.job_id is null or r.action <> 'fail' then r.action
                when l.kill_reason is not null then 'cancel'
                when j.status = 'sent' and r.rule = 'sent' and l.attempt < s.attempts then 'return'
                else r.action end as action
      from near j
      join rule r on r.position = j.position
      left join resource.queue q on q.setup = p_setup and q.queue = j.queue
      left join taskqueue.lease l on l.setup = p_setup and l.job_id = j.job_id
      left join taskqueue.setting s on s.setup = p_setup
      left join named n on n.position = r.position
                       and n.name = case when r.key_by_name like '%<group>' then j.working_group
                                         when r.key_by_name like '%<queue workflow>' then q.workflow
                                         else coalesce(j.workflow, q.workflow) end
     cross join lateral (select greatest(j.modified, l.reported_at) as modified) g
     cross join lateral (select case when r.clock = 'created' then j.created
                                     when r.clock = 'state_changed' then j.state_changed
                                     when r.clock = 'waiting' then coalesce(j.activated, j.created)
                                     when r.rule = 'sent' and l.job_id is not null then l.matched_at
                                     else g.modified end as since) x
     cross join lateral (select coalesce(n.value, r.key_value) as number,
                                case r.queue_column when 'transtimehi' then q.transtimehi
                                                    when 'transtimelo' then q.transtimelo end as of_queue,
                                case when n.value is not null then r.name_prefix || n.name
                                     when r.key_value is not null then split_part(r.key, ':', 2)
                                     when r.queue_column is not null
                                     then format('%s of queue %s', r.queue_column, coalesce(j.queue, 'null'))
                                     else r.setting_name end as limit_from) v
     cross join lateral (
       select coalesce(case when v.number is not null then least(greatest(v.number, 0), 1e6) * r.unit end,
                       case when v.of_queue > 0 then least(v.of_queue, 1e6) * r.unit end,
                       case when r.rule = 'sent' and l.job_id is not null
                            then greatest(r.setting_value, l.expires_at - l.matched_at)
                            else r.setting_value end,
                       r.constant) as time_limit) m
     where p_all or x.since < v_now - m.time_limit
  ), last_start as materialized (  -- only where a rule asks, as everything below
    select i.queue, greatest(c.laststart, max(s.last_at)) as at
      from (select distinct a.queue from aged a
              join rule r on r.position = a.position
             where r.conditions && '{idle,idle_or_off}') i
      left join resource.queue_activity c on c.setup = p_setup and c.queue = i.queue
      left join workload.job_start s on s.setup = p_setup and s.queue = i.queue
     group by i.queue, c.laststart
  ), moved as materialized (
    select b.task_id, b.queue, max(o.state_changed) as at
      from (select distinct a.task_id, a.queue from aged a
              join rule r on r.position = a.position
             where 'still' = any (r.conditions)) b
      join workload.job o on o.setup = p_setup and o.task_id = b.task_id and o.queue = b.queue
     where o.status not in ('closed', 'failed', 'starting')
     group by b.task_id, b.queue
  )
  select a.job_id, a.task_id, a.position, r.rule, a.status, a.action, r.clock, a.since, a.time_limit, a.limit_from,
         a.is_leased,
         case when a.status <> all (r.statuses)
              then format('it is %s: this is for jobs that are %s', a.status, array_to_string(r.statuses, ', '))
              when lifecycle.is_exempt(q, r.skipped_at)
              then format('queue %s is %s: no such rule there', a.queue,
                          case when lifecycle.is_exempt(q, array_remove(r.skipped_at, 'disableReassign'))
                               then 'paused' else 'marked disableReassign' end)
              when (a.label = any (r.labels)) is not true and r.labels is not null
              then format('label is %s, not %s', coalesce(a.label, 'null'), array_to_string(r.labels, ' or '))
              when a.label = any (r.not_labels) then format('label is %s', a.label)
              when coalesce(a.priority, 0) < r.priority_from
              then format('priority %s is below %s', coalesce(a.priority, 0), r.priority_from)
              when coalesce(a.priority, 0) > r.priority_to
              then format('priority %s is above %s', coalesce(a.priority, 0), r.priority_to)
              when 'sub_status' = any (r.conditions) and a.sub_status is null then 'it has no sub status'
              when 'task' = any (r.conditions) and a.task_id is null then 'it is of no task'
              when 'no_task' = any (r.conditions) and a.task_id is not null then 'it is of a task'
              when 'not_pmerge' = any (r.conditions) and a.processing_type = 'pmerge' then 'it is pmerge'
              when r.conditions && '{not_relocated,relocation_known}' and a.relocation_flag = 2
              then 'relocation flag is 2'
              when 'relocation_known' = any (r.conditions) and a.relocation_flag is null
              then 'relocation flag is not known'
              when 'changed_since' = any (r.conditions) and a.state_changed is not distinct from a.modified
              then 'nothing was heard since it began to hold'
              when 'queue_on' = any (r.conditions) and q.status in ('offline', 'test')
              then format('queue %s is %s', a.queue, q.status)
              when 'queue_off' = any (r.conditions) and (q.status in ('offline', 'test')) is not true
              then format('queue %s is %s', coalesce(a.queue, 'null'), coalesce(q.status, 'not known'))
              when 'idle_or_off' = any (r.conditions) and q.status in ('offline', 'test') then null
              when r.conditions && '{idle,idle_or_off}' and (t.at < v_now - interval '2 hours') is not true
              then coalesce(format('the last job of queue %s started %s ago', a.queue,
                                   date_trunc('second', v_now - t.at)),
                            format('no start of a job is known of queue %s', coalesce(a.queue, 'null')))
              when 'still' = any (r.conditions)
                   and (case when a.task_id is null or a.queue is null then a.state_changed else o.at end)
                         > v_now - interval '3 hours'
              then format('a job of its task changed %s ago',
                          date_trunc('second',
                                     v_now - case when a.task_id is null or a.queue is null then a.state_changed
                                                  else o.at end))
              when a.time_limit is null
              then format('off: %s',
                          coalesce(case when r.queue_column is not null then a.limit_from || ' is not set' end,
                                   split_part(r.key_by_name, ':', 2) || ' is not set'))
              when a.since is null then format('it is not known since when (%s)', r.clock)
         end
    from aged a
    join rule r on r.position = a.position
    left join resource.queue q on q.setup = p_setup and q.queue = a.queue
    left join last_start t on t.queue = a.queue
    left join moved o on o.task_id = a.task_id and o.queue = a.queue;
end $$;

comment on function lifecycle.judge_timeouts(text, bigint[], boolean) is
  'Jobs (some, or null = all that have not ended) by rule: since when the age counts, the limit, and what keeps the '
  'rule from applying, null = nothing. p_all: all rules of each; else only those of its status whose '
  'limit it has passed.';
