-- This is the part of taskqueue.check_matching for limits: which definitions count at one, and the slots of limits on
-- running jobs.
create or replace function taskqueue.check_limits(p_setup text)
returns table (structure text, key text, expected text, found text) language sql stable as $$
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
   where l.ceiling is distinct from coalesce(s.slots, 0)
  union all
  select 'definition', 'limits of definition ' || d.definition_id, 'is_limited ' || not d.is_limited,
         'is_limited ' || d.is_limited
    from taskqueue.definition d
   where d.setup = p_setup and d.is_limited <> taskqueue.counts_at_limit(p_setup, d.requirements)
$$;

comment on function taskqueue.check_limits(text) is
  'Differences between the slots of limits and the leases that use them, and definitions whose is_limited is wrong. No '
  'row means that everything is right.';
