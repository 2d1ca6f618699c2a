-- LEASES.md, Leases: the first report makes a lease running. A brokered job gets the status that its agent reports; the
-- first heartbeat of a job in the status sent makes it starting.
create or replace function taskqueue.report_leases(
  p_setup text, p_reports taskqueue.lease_event[], p_skip_refused boolean default false
) returns bigint[]
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_facts record;
  v_changed bigint[];
  v_statuses text[];
  v_moved bigint[];
begin
  if p_reports = '{}' then
    return '{}'::bigint[];
  end if;
  select array_agg((k.lease).job_id) as job_ids, bool_or((k.lease).brokered) as are_brokered,
         bool_or((k.lease).state = 'matched') as are_first, bool_or(k.facts is distinct from null) as have_facts
    into v_facts
    from unnest(p_reports) k;
  if v_facts.are_brokered then
    select array_agg((k.lease).job_id), array_agg(coalesce(k.event, 'starting'))
      into v_changed, v_statuses
      from unnest(p_reports) k
     where (k.lease).brokered and (k.event is not null or (k.lease).state = 'matched');
  end if;
  if v_changed <> '{}' then
    v_moved := workload.move_jobs(p_setup, v_changed, v_statuses,
                                  array_fill('report_job'::text, array[cardinality(v_changed)]), null,
                                  p_skip_refused);
    if cardinality(v_moved) < cardinality(v_changed) then
      v_facts.job_ids := array(select i from unnest(v_facts.job_ids) i
                                where i <> all (v_changed) or i = any (v_moved));
    end if;
  end if;
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.heartbeat_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = any (v_facts.job_ids);
  if v_facts.have_facts then
    update taskqueue.lease l
       set host = coalesce(l.host, f.host), error = coalesce(f.error, l.error),
           cpu_used = coalesce(f.cpu_used, l.cpu_used), wall_used = coalesce(f.wall_used, l.wall_used),
           ram_used = greatest(f.ram_used, l.ram_used), cores_used = coalesce(f.cores_used, l.cores_used)
      from unnest(p_reports) k cross join lateral (select (k.facts).*) f
     where l.setup = p_setup and l.job_id = (k.lease).job_id and l.job_id = any (v_facts.job_ids)
       and k.facts is distinct from null;
  end if;
  if v_facts.are_first then
    perform taskqueue.note_events(array(
      select (k.lease, 'running', k.subject, null, null, null, null)::taskqueue.lease_event
        from unnest(p_reports) k
       where (k.lease).state = 'matched' and (k.lease).job_id = any (v_facts.job_ids)));
  end if;
  return v_facts.job_ids;
end $$;

comment on function taskqueue.report_leases(text, taskqueue.lease_event[], boolean) is
  'Notes the reports of agents for locked leases (the event is the status, or null for a heartbeat), and returns their '
  'jobs. With p_skip_refused, a lease stays as it is if the status of its job does not allow the new one. Errors '
  'otherwise: PB005.';
