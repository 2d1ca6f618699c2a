-- LEASES.md, Exactness of limits: a running limit gets as many slots as its ceiling, and the leases that count at it
-- hold theirs. If there are more leases than slots, each surplus lease gets one row with a negative number.
create or replace function taskqueue.set_slots(p_setup text, p_limit_id bigint) returns void
language sql as $$
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id;
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot)
  select p_setup, e.job_id, p_limit_id, row_number() over (order by e.job_id)
    from taskqueue.lease e
    join taskqueue.site_limit l on l.setup = p_setup and l.limit_id = p_limit_id
    join taskqueue.definition d on d.setup = e.setup and d.definition_id = e.definition_id
   where e.setup = p_setup and e.site = l.site and (l.grid_ce is null or l.grid_ce = e.grid_ce)
     and taskqueue.requires_value(d.requirements, l.attribute, l.value);
  insert into taskqueue.limit_slot (setup, limit_id, slot)
  select p_setup, p_limit_id, n.slot
    from taskqueue.site_limit l
   cross join lateral (select count(*)::int as used from taskqueue.limit_use u
                        where u.setup = p_setup and u.limit_id = p_limit_id) c
   cross join lateral (select generate_series(c.used + 1, l.ceiling)
                        union all select generate_series(l.ceiling - c.used, -1)) n (slot)
   where l.setup = p_setup and l.limit_id = p_limit_id;
$$;

comment on function taskqueue.set_slots(text, bigint) is
  'Rebuilds the slots of a running limit from the existing leases.';
