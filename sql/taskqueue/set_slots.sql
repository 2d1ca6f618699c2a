-- Section 7: the slots of a running limit made to its ceiling, the leases that count at it holding theirs.
create or replace function taskqueue.set_slots(p_setup text, p_limit_id bigint) returns void
language sql
as $$
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id;
  insert into taskqueue.limit_slot (setup, limit_id, slot, job_id)
  select p_setup, p_limit_id, coalesce(h.slot, n.slot), h.job_id
    from (select generate_series(1, l.ceiling)::int as slot from taskqueue.site_limit l where l.setup = p_setup and l.limit_id = p_limit_id) n
    full join (select (row_number() over (order by e.job_id))::int as slot, e.job_id
                 from taskqueue.lease e
                 join taskqueue.site_limit l on l.setup = p_setup and l.limit_id = p_limit_id
                 join taskqueue.definition d on d.setup = e.setup and d.definition_id = e.definition_id
                where e.setup = p_setup and e.site = l.site and (l.grid_ce is null or l.grid_ce = e.grid_ce)
                  and taskqueue.lists(d.requirements, l.attribute, l.value)) h using (slot)
$$;

comment on function taskqueue.set_slots(text, bigint) is
'Makes the slots of a running limit anew from the leases there are.';
