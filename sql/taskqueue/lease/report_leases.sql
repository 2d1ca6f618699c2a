-- LEASES.md, Leases: the first report makes a lease running. A brokered job gets the status that its agent reports; the
-- first heartbeat of a job in the status sent makes it starting.
create or replace function taskqueue.report_leases(
  p_setup text, p_reports taskqueue.lease_event[], p_skip_refused boolean default false
) returns bigint[]
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_facts record;
  v_moved bigint[];
begin
  if p_reports = '{}' then
    return '{}'::bigint[];
  end if;
  select array_agg(l.job_id) as job_ids,
         array_agg(l.job_id) filter (where l.is_change) as changed,
         array_agg(coalesce(k.event, 'starting')) filter (where l.is_change) as statuses,
         array_agg((k.lease, 'running', k.subject, null)::taskqueue.lease_event)
           filter (where l.state = 'matched') as first
    into v_facts
    from unnest(p_reports) k
   cross join lateral (select (k.lease).job_id, (k.lease).state,
                              (k.lease).brokered
                              and (k.event is not null or (k.lease).state = 'matched') as is_change) l;
  if v_facts.changed <> '{}' then
    v_moved := workload.move_jobs(p_setup, v_facts.changed, v_facts.statuses,
                                  array_fill('report_job'::text, array[cardinality(v_facts.changed)]), null,
                                  p_skip_refused);
    if cardinality(v_moved) < cardinality(v_facts.changed) then
      v_facts.job_ids := array(select i from unnest(v_facts.job_ids) i
                                where i <> all (v_facts.changed) or i = any (v_moved));
      v_facts.first := array(select k from unnest(v_facts.first) k where (k.lease).job_id = any (v_facts.job_ids));
    end if;
  end if;
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.heartbeat_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = any (v_facts.job_ids);
  if v_facts.first <> '{}' then
    perform taskqueue.note_events(v_facts.first);
  end if;
  return v_facts.job_ids;
end $$;

comment on function taskqueue.report_leases(text, taskqueue.lease_event[], boolean) is
  'Notes reports of the agents that have locked leases (event: the status, null = a heartbeat), and returns of which '
  'jobs. With p_skip_refused, a lease stays as it is if the status of its job does not allow the new one. Errors '
  'otherwise: PB005.';
