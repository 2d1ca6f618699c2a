-- STATES.md, Expired leases. A running lease of a brokered job is left to lifecycle.watch_timeouts. A lease that
-- another transaction has locked is skipped, since its agent is calling. A dry run uses the same statements, without a
-- lock.
create or replace function lifecycle.expire_leases(
  p_setup text, p_dry_run boolean default false, p_limit int default 1000
) returns table (rule text, action text, jobs bigint)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_limit int := coalesce(p_limit, (select s.most from lifecycle.setting_in_force s where s.setup = p_setup));
  v_lock text := case when p_dry_run then '' else 'for update of l skip locked' end;
  v_setting taskqueue.setting;
  v_skipped_at text[];
  v_expired taskqueue.lease[];
  v_ended taskqueue.lease_event[];
  v_lost taskqueue.lease_event[];
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform resource.require_limit('limit', p_limit);
  if p_dry_run is not true then
    perform taskqueue.enter_setup(p_setup);
  end if;
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  select r.skipped_at into v_skipped_at
    from lifecycle.timeout_in_force r
   where r.setup = p_setup and r.rule = 'sent';
  execute format($q$
    select array(
      select l from taskqueue.lease l
       where l.setup = $1 and l.state = 'matched' and l.matched_at < $2 - $3 and l.expires_at < $2
         and not (l.brokered
                  and exists (select from workload.job j
                                join resource.queue q on q.setup = j.setup and q.queue = j.queue
                               where j.setup = $1 and j.job_id = l.job_id
                                 and lifecycle.is_exempt(q.status, q.catchall, $4)))
       order by l.matched_at limit $5 %s)$q$, v_lock)
    into v_expired using p_setup, v_now, v_setting.lease_time, v_skipped_at, v_limit;
  v_ended := array(select (l, case when l.kill_reason is null then 'failed' else 'cancelled' end, null,
                           coalesce(l.kill_reason, format('sent: it never started, loss %s of %s', l.losses + 1,
                                                          v_setting.attempts)), null, 'lost', null
                   )::taskqueue.lease_event
                     from unnest(v_expired) l where l.kill_reason is not null or l.losses + 1 >= v_setting.attempts);
  v_expired := array(select l::taskqueue.lease from unnest(v_expired) l
                      where l.kill_reason is null and l.losses + 1 < v_setting.attempts);
  if p_dry_run is not true then
    perform taskqueue.end_leases(p_setup, v_ended, 'sent');
    if v_expired <> '{}' then
      perform taskqueue.return_jobs(p_setup, v_expired, 'sent: its agent never started it', 'expired', true);
    end if;
  end if;
  execute format($q$
    select array(
      select (l, case when l.kill_reason is null then 'failed' else 'cancelled' end, null, null, null,
              'lost', null)::taskqueue.lease_event
        from taskqueue.lease l
       where l.setup = $1 and l.state = 'running' and l.expires_at < $2 and not l.brokered
       order by l.expires_at limit $3 %s)$q$, v_lock) into v_lost using p_setup, v_now, v_limit;
  if p_dry_run is not true then
    perform taskqueue.end_leases(p_setup, v_lost);
  end if;
  return query values ('sent', 'return', cardinality(v_expired)::bigint), ('sent', 'fail', cardinality(v_ended)),
         ('heartbeat', 'fail', cardinality(v_lost));
end $$;

comment on function lifecycle.expire_leases(text, boolean, int) is
  'Ends leases that have expired, up to p_limit of each kind (null means the setting most). Jobs that never started go '
  'back to their queue, or fail if the setting attempts allows no more losses; jobs without a recent heartbeat fail. '
  'p_dry_run only counts them, and does not wait. Returns how many leases ended. Errors: PB001 (no such setup), PB002 '
  '(setup not granted).';
