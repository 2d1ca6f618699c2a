-- See classes.md, Classes of users. Running slots are cores of the shares User Analysis and Express Analysis at queues
-- whose class is in force, on grid resources, without merge jobs. Jobs of this database and counts kept elsewhere are
-- included. A user without such jobs has no row.
create or replace function brokerage.user_slots(p_setup text)
returns table (user_name text, slots_hi bigint, slots_mid bigint, rem_slots_a float8, rem_slots_b float8)
language sql stable as $$
  with config as materialized (
    select (c.all_keys #>> '{analy_eval,USER_USAGE_THRESHOLD_A}')::float8 as threshold_a,
           (c.all_keys #>> '{analy_eval,USER_USAGE_THRESHOLD_B}')::float8 as threshold_b
      from (select resource.configuration(p_setup)) c(all_keys)
  ), site as materialized (
    select a.queue, a.site_class
      from resource.queue_activity a
      join resource.queue q on q.setup = a.setup and q.queue = a.queue
     where a.setup = p_setup and a.site_class is not null and coalesce(q.resource_type, 'GRID') = 'GRID'
       and brokerage.is_current(a.site_classified, (select resource.clock(p_setup)), interval '1 hour')
  ), job as (
    select c.user_name, c.queue, c.jobs, case when c.status = 'running' then c.cores else 0 end as cores
      from workload.job_by_user c
     where c.setup = p_setup and c.gshare in ('User Analysis', 'Express Analysis') and c.label in ('user', 'panda')
       and c.status in ('defined', 'assigned', 'activated', 'starting', 'running')
       and c.processing_type is distinct from 'pmerge'
    union all  -- minus jobs of merge tasks that are not themselves marked as merge jobs
    select j.user_name, j.queue, -1, case when j.status = 'running' then -coalesce(j.cores, 1) else 0 end
      from workload.task t
      join workload.job j on j.setup = t.setup and j.task_id = t.task_id
     where t.setup = p_setup and (t.is_merging or t.processing_type = 'pmerge' and j.processing_type is null)
       and j.ended is null
       and j.gshare in ('User Analysis', 'Express Analysis') and j.label in ('user', 'panda')
       and j.status in ('defined', 'assigned', 'activated', 'starting', 'running')
       and j.processing_type is distinct from 'pmerge'
    union all
    select u.user_name, u.queue, coalesce(u.queued, 0) + coalesce(u.running, 0), coalesce(u.running_cores, u.running, 0)
      from workload.user_queue_statistic u
     where u.setup = p_setup and u.gshare in ('User Analysis', 'Express Analysis') and u.user_name <> '_total'
       and coalesce(u.queued, 0) + coalesce(u.running, 0) > 0
  ), slot as (
    select j.user_name,
           coalesce(sum(j.cores) filter (where s.site_class = 1), 0)::bigint as hi,
           coalesce(sum(j.cores) filter (where s.site_class = 0), 0)::bigint as mid
      from job j
      join site s on s.queue = j.queue
     where j.user_name is not null
     group by j.user_name
    having sum(j.jobs) > 0
  )
  select s.user_name, s.hi, s.mid, greatest(c.threshold_a - s.hi, 0), greatest(c.threshold_b - s.hi - s.mid, 0)
    from slot s
   cross join config c
$$;

comment on function brokerage.user_slots(text) is
  'Running slots (cores) of users of analysis at queues of class hi and mid, and the slots that remain up to the '
  'thresholds of classes A and B (analy_eval:USER_USAGE_THRESHOLD_A and _B).';
