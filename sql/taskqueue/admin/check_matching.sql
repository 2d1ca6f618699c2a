-- Compares every structure that is derived for speed with the tables that it is derived from.
-- Long because all comparisons are one statement, so that they read one snapshot and are exact under load.
create or replace function taskqueue.check_matching(p_setup text)
returns table (structure text, key text, expected text, found text)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  return query
    select 'definition', 'TaskQueue ' || q.task_queue_id, taskqueue.requirements_of_task_queue(q)::text,
           d.requirements::text
      from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where q.setup = p_setup and d.requirements <> taskqueue.requirements_of_task_queue(q)
    union all
    select 'definition', 'definition ' || d.definition_id, d.requirements::text, to_jsonb(d)::text
      from taskqueue.definition d
     where d.setup = p_setup
       and (d.digest, d.family, d.owner_dn, d.owner_group, d.cpu_time, d.min_ram, d.pilot_types, d.sites,
            d.banned_sites, d.grid_ces, d.platforms, d.job_types, d.tags, d.search_keys)
           is distinct from
           (md5(d.requirements::text)::uuid, taskqueue.family_of(d.requirements), d.requirements ->> 'OwnerDN',
            d.requirements ->> 'OwnerGroup',
            (d.requirements ->> 'CPUTime')::bigint, (d.requirements ->> 'MinRAM')::float8,
            taskqueue.list_of(d.requirements, 'PilotTypes'),
            taskqueue.list_of(d.requirements, 'Sites'), taskqueue.list_of(d.requirements, 'BannedSites'),
            taskqueue.list_of(d.requirements, 'GridCEs'),
            taskqueue.list_of(d.requirements, 'Platforms'), taskqueue.list_of(d.requirements, 'JobTypes'),
            taskqueue.list_of(d.requirements, 'Tags'),
            taskqueue.definition_keys(d.setup, taskqueue.list_of(d.requirements, 'Sites'),
                                      taskqueue.list_of(d.requirements, 'Tags')))
    union all
    select 'posting',
           format('TaskQueue %s at %L', coalesce(w.task_queue_id, p.task_queue_id), coalesce(w.site, p.site)),
           w::text, p::text
      from (select * from taskqueue.wanted_posting i where i.setup = p_setup) w
      full join (select i.*, count(*) over (partition by i.list_id, i.task_queue_id) as times
                   from taskqueue.posted_task_queue i
                  where i.setup = p_setup) p
           using (setup, site, cpu_time, weight_class, task_queue_id)
     where (w is null or p is null or p.times > 1)
       and not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = w.task_queue_id)
    union all
    select 'task_queue', format('TaskQueue %s', q.task_queue_id), 'is_open ' || not q.is_open, 'is_open ' || q.is_open
      from taskqueue.task_queue q
     where q.setup = p_setup
       and q.is_open <> exists (select from taskqueue.wanted_posting w
                                 where w.setup = q.setup and w.task_queue_id = q.task_queue_id)
    union all
    select 'posting_list', format('list %s, weight class %s', p.list_id, p.weight_class),
           'within ' || coalesce(l.positions[array_position(l.weight_classes, p.weight_class)], 0),
           p.position::text
      from taskqueue.posting p
      left join taskqueue.posting_list l on l.setup = p.setup and l.list_id = p.list_id
     where p.setup = p_setup and p.position > coalesce(l.positions[array_position(l.weight_classes, p.weight_class)], 0)
    union all
    select 'posting_list', 'list ' || l.list_id,
           format('total bound %s, highest %s, positions %s', s.total_bound, s.highest_bound, s.position_count),
           format('total bound %s, highest %s, positions %s', l.total_bound, l.highest_bound, l.position_count)
      from taskqueue.posting_list l
     cross join lateral (select coalesce(sum(b.positions * taskqueue.upper_bound_of(b.weight_class)), 0) as total_bound,
                                coalesce(max(taskqueue.upper_bound_of(b.weight_class)), 0) as highest_bound,
                                coalesce(sum(b.positions), 0) as position_count
                           from unnest(l.weight_classes, l.positions) b (weight_class, positions)) s
     where l.setup = p_setup
       and (l.position_count <> s.position_count or l.highest_bound <> s.highest_bound
            or abs(l.total_bound - s.total_bound) > 1e-9 * s.total_bound
            or l.total_bound is distinct from coalesce(l.cumulative_bounds[cardinality(l.weight_classes)], 0))
    union all
    select 'job_count',
           format('TaskQueue %s, user priority %s', coalesce(j.task_queue_id, c.task_queue_id),
                  coalesce(j.user_priority, c.user_priority)),
           coalesce(j.jobs, 0)::text, coalesce(c.jobs, 0)::text
      from (select i.task_queue_id, i.user_priority, count(*) as jobs, min(i.job_id) as first_id
              from taskqueue.job i
             where i.setup = p_setup and not i.held
             group by 1, 2) j
      full join (select q.task_queue_id, l.user_priority, l.jobs, l.first_id
                   from taskqueue.task_queue q cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
                  where q.setup = p_setup) c using (task_queue_id, user_priority)
     where coalesce(j.jobs, 0) <> coalesce(c.jobs, 0)
    union all
    select 'job_count',
           format('TaskQueue %s, user priority %s, first id', q.task_queue_id, l.user_priority),
           j.job_id::text, l.first_id::text
      from taskqueue.task_queue q
     cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
     cross join lateral (select min(i.job_id) as job_id from taskqueue.job i
                          where i.setup = q.setup and i.task_queue_id = q.task_queue_id and not i.held
                            and i.user_priority = l.user_priority) j
     where q.setup = p_setup and j.job_id < coalesce(l.first_id, 0)
    union all
    select 'hand', format('TaskQueue %s, job %s', h.task_queue_id, c.job_id),
           format('user priority %s in TaskQueue %s', c.user_priority, h.task_queue_id),
           format('user priority %s in TaskQueue %s%s', j.user_priority, j.task_queue_id,
                  case when j.held then ', held' end)
      from taskqueue.hand h
     cross join lateral unnest(h.job_ids, h.entry_ids, h.user_priorities) c (job_id, entry_id, user_priority)
      join taskqueue.job j on j.setup = h.setup and j.job_id = c.job_id and j.entry_id = c.entry_id
     where h.setup = p_setup
       and (j.task_queue_id <> h.task_queue_id or j.user_priority <> c.user_priority or j.held)
    union all
    select 'hand', 'TaskQueue ' || q.task_queue_id, '1 hand', n.hands || ' hands'
      from taskqueue.task_queue q
     cross join lateral (select count(*) as hands from taskqueue.hand h
                          where h.setup = q.setup and h.task_queue_id = q.task_queue_id) n
     where q.setup = p_setup and n.hands <> 1
    union all
    select 'owner_weight',
           format('%s of %s%s', owner_dn, owner_group, case when light then ', light' end),
           format('%s TaskQueues, %s', t.task_queues, t.weight), format('%s TaskQueues, %s', w.task_queues, w.weight)
      from (select q.owner_group, q.owner_dn, taskqueue.is_background(q.mean_weight, true) as light,
                   count(*) as task_queues, sum(q.mean_weight::numeric) as weight
              from taskqueue.task_queue q where q.setup = p_setup group by 1, 2, 3) t
      full join (select o.owner_group, o.owner_dn, o.light, sum(o.task_queues) as task_queues, sum(o.weight) as weight
                   from taskqueue.owner_weight o
                  where o.setup = p_setup
                  group by 1, 2, 3) w using (owner_group, owner_dn, light)
     where coalesce(t.task_queues, 0) <> coalesce(w.task_queues, 0) or coalesce(t.weight, 0) <> coalesce(w.weight, 0)
    union all
    select 'limit_use', format('limit %s, job %s', limit_id, job_id),
           case when e.counts then 'a slot' else 'no slot' end,
           case when u.slot is null then 'no slot' else 'slot ' || u.slot end
      from (select l.limit_id, i.job_id, true as counts
              from taskqueue.site_limit l
              join taskqueue.lease i on i.setup = l.setup and i.site = l.site
                                    and (l.grid_ce is null or l.grid_ce = i.grid_ce)
              join taskqueue.definition d on d.setup = i.setup and d.definition_id = i.definition_id
             where l.setup = p_setup and l.kind = 'running'
               and taskqueue.requires_value(d.requirements, l.attribute, l.value)) e
      full join (select i.limit_id, i.job_id, i.slot from taskqueue.limit_use i
                  where i.setup = p_setup) u using (limit_id, job_id)
     where e.counts is null or u.slot is null
    union all
    select 'limit_slot', 'limit ' || limit_id, coalesce(l.ceiling::text, 'no limit'), coalesce(s.slots, 0)::text
      from (select i.limit_id, i.ceiling from taskqueue.site_limit i where i.setup = p_setup and i.kind = 'running') l
      full join (select n.limit_id, sum(sign(n.slot))::bigint as slots
                   from (select f.limit_id, f.slot from taskqueue.limit_slot f where f.setup = p_setup
                         union all
                         select i.limit_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) n
                  group by 1) s using (limit_id)
     where l.ceiling is distinct from coalesce(s.slots, 0);
end $$;

comment on function taskqueue.check_matching(text) is
  'Differences between what matching reads (definitions, postings, counts, weights of owners, limit slots) and the '
  'tables that it is derived from; no row: everything is right. One statement, exact under load. Errors: PB002 (setup '
  'not granted).';
