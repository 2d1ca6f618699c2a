-- The query is planned again at each call: some jobs, all jobs, and all timeouts of one job are three different
-- queries.
-- Long because the steps are one query: the least limit of each timeout comes first, and a younger job is not examined
-- any further. Nearly all of a million jobs are younger.
create or replace function lifecycle.aged_jobs(p_setup text, p_job_ids bigint[], p_all boolean)
returns table (place int, facts lifecycle.timeout_facts, action text, is_leased boolean, since timestamptz,
               time_limit interval, limit_from text)
language plpgsql stable set plan_cache_mode = force_custom_plan set timezone = 'UTC' as $$
declare
  v_now timestamptz := resource.clock(p_setup);
begin
  return query
  with rule as materialized (
    select l.*, (l.timeout).*,
           -- expensive facts are looked up only for the conditions that read them; a setup's own condition may read any
           -- fact
           exists (select from unnest((l.timeout).conditions) c
                    where not starts_with(c, 'lifecycle.condition_')
                       or starts_with(c, 'lifecycle.condition_idle')) as reads_start,
           exists (select from unnest((l.timeout).conditions) c
                    where not starts_with(c, 'lifecycle.condition_') or c = 'lifecycle.condition_still') as reads_task
      from lifecycle.timeout_limits(p_setup) l
  ), reach as materialized (
    select r.position, t.to_status as status, r.rule, r.clock, r.labels,
           coalesce(r.priority_from, -2147483648) as priority_from, coalesce(r.priority_to, 2147483647) as priority_to,
           v_now - r.least_limit as oldest
      from rule r
     cross join (select distinct x.to_status from workload.transition x) t
     where t.to_status = any (r.statuses) or p_all and not workload.is_end(t.to_status)
  ), near as materialized (
    select j.job_id, j.task_id, j.queue, j.status, j.sub_status, j.priority, j.gshare, j.label, j.user_name,
           j.working_group, j.resource_type, j.cores, j.processing_type, j.workflow, j.relocation_flag, j.created,
           j.modified, j.state_changed, j.activated, c.position
      from workload.job j
      join reach c on c.status = j.status
     where j.setup = p_setup and j.ended is null and (p_job_ids is null or j.job_id = any (p_job_ids))
       and (p_all or (c.rule = 'sent' or case c.clock when 'created' then j.created
                                                      when 'modified' then j.modified
                                                      when 'state_changed' then coalesce(j.state_changed, j.created)
                                                      else coalesce(j.activated, j.created) end < c.oldest)
                     and (c.labels is null or j.label = any (c.labels))
                     and coalesce(j.priority, 0) between c.priority_from and c.priority_to)
  ), aged as materialized (
    select n as job, n.task_id, n.queue, n.position, r.reads_start, r.reads_task, g.modified, x.since,
           q.status as queue_status, q.catchall as queue_catchall, m.time_limit, v.limit_from,
           l.job_id is not null as is_leased,
           case when l.kill_reason is not null then 'cancel'
                when l.job_id is null or r.action <> 'fail' then r.action
                when n.status = 'sent' and r.rule = 'sent' and l.losses + 1 < s.attempts then 'return'
                else r.action end as action
      from near n
      join rule r on r.position = n.position
      left join resource.queue q on q.setup = p_setup and q.queue = n.queue
      left join taskqueue.lease l on l.setup = p_setup and l.job_id = n.job_id
      left join taskqueue.setting s on s.setup = p_setup
     cross join lateral (select greatest(n.modified, l.reported_at) as modified,
                                case when r.key_by_name like '%<group>' then n.working_group
                                     when r.key_by_name like '%<queue workflow>' then q.workflow
                                     when r.key_by_name is not null then coalesce(n.workflow, q.workflow)
                                end as name) g
     cross join lateral (select case when r.clock = 'created' then n.created
                                     when r.clock = 'state_changed' then coalesce(n.state_changed, n.created)
                                     when r.clock = 'waiting' then coalesce(n.activated, n.created)
                                     when r.rule = 'sent' and l.job_id is not null then l.matched_at
                                     else g.modified end as since) x
     cross join lateral (select (r.by_name ->> g.name)::float8 * interval '1 hour' as by_name,
                                case r.queue_column when 'transtimehi' then q.transtimehi
                                                    when 'transtimelo' then q.transtimelo end as days) o
     cross join lateral (select case when o.by_name is not null then r.name_prefix || g.name
                                     when r.by_key is not null then split_part(r.key, ':', 2)
                                     when r.queue_column is not null
                                     then format('%s of queue %s', r.queue_column, coalesce(n.queue, 'null'))
                                     else coalesce(r.queue_setting, 'fixed') end as limit_from) v
     cross join lateral (select coalesce(o.by_name, r.by_key,
                                         case when o.days > 0 then least(o.days, 1e6) * interval '1 day' end,
                                         case when r.rule = 'sent' and l.job_id is not null
                                              then greatest(r.by_setting, l.expires_at - l.matched_at)
                                              else r.by_setting end,
                                         r.constant) as time_limit) m
     where p_all or x.since < v_now - m.time_limit
  ), last_start as materialized (
    select i.queue, greatest(c.laststart, max(s.last_at)) as at
      from (select distinct a.queue from aged a where a.reads_start) i
      left join resource.queue_activity c on c.setup = p_setup and c.queue = i.queue
      left join workload.job_start s on s.setup = p_setup and s.queue = i.queue
     group by i.queue, c.laststart
  ), moved as materialized (
    select b.task_id, b.queue, max(o.state_changed) as at
      from (select distinct a.task_id, a.queue from aged a where a.reads_task) b
      join workload.job o on o.setup = p_setup and o.task_id = b.task_id and o.queue = b.queue
     where o.status not in ('closed', 'failed', 'starting')
     group by b.task_id, b.queue
  )
  select a.position,
         row(j.job_id, j.task_id, j.queue, j.status, j.sub_status, j.priority, j.gshare, j.label, j.user_name,
             j.working_group, j.resource_type, j.cores, j.processing_type, j.workflow, j.relocation_flag, j.created,
             a.modified, j.state_changed, j.activated, a.queue_status, a.queue_catchall, t.at,
             case when j.task_id is null or j.queue is null then j.state_changed else o.at end,
             v_now)::lifecycle.timeout_facts,
         a.action, a.is_leased, a.since, a.time_limit, a.limit_from
    from aged a
   cross join lateral (select (a.job).*) j
    left join last_start t on t.queue = a.queue and a.reads_start
    left join moved o on o.task_id = a.task_id and o.queue = a.queue and a.reads_task;
end $$;

comment on function lifecycle.aged_jobs(text, bigint[], boolean) is
  'Jobs (the given ones; null means all that have not ended) with the timeouts whose limit they have passed (p_all: '
  'all timeouts, whatever the age). The columns are the facts for conditions, the time from which the age counts, the '
  'limit with its source, and the action for the job.';
