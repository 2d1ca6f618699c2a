-- after: lifecycle.is_exempt
-- after: lifecycle.setting_in_force
-- after: lifecycle.timeout_rule
-- taskqueue-matching 8; lifecycle.md, Timeouts (sent): a job that its agent never started goes back to its queue, after so many attempts it fails. One that was running and is
-- not heard of any more fails; of jobs that brokerage made that is a matter of lifecycle.watch_timeouts. Leases that somebody else has locked are passed over: their agent speaks.
create or replace function lifecycle.expire_leases(p_setup text, p_most int default 1000) returns table (rule text, action text, jobs bigint)
language plpgsql
security definer set search_path = lifecycle, pg_temp
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_setting taskqueue.setting;
  v_skipped_at text[];
  v_expired taskqueue.lease[];
  v_lease taskqueue.lease;
  v_ended bigint := 0;
  v_lost bigint := 0;
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  select r.skipped_at into v_skipped_at
    from lifecycle.timeout_rule r
   where r.rule = 'sent' and r.profile = coalesce((select s.profile from lifecycle.setting_in_force s where s.setup = p_setup), 'doc');
  v_expired := array(
    select l from taskqueue.lease l
     where l.setup = p_setup and l.state = 'matched' and l.matched_at < v_now - v_setting.lease_time and l.expires_at < v_now
       and not (l.brokered and exists (select from workload.job j join resource.queue q on q.setup = j.setup and q.queue = j.queue
                                        where j.setup = p_setup and j.job_id = l.job_id and lifecycle.is_exempt(q, v_skipped_at)))
     order by l.matched_at limit p_most for update of l skip locked);
  foreach v_lease in array array(select l::taskqueue.lease from unnest(v_expired) l where l.kill_reason is not null or l.attempt >= v_setting.attempts) loop
    if v_lease.kill_reason is not null then
      perform taskqueue.end_lease(v_lease, 'cancelled', v_lease.kill_reason, 'sent');
    else
      perform taskqueue.end_lease(v_lease, 'failed', format('sent: attempt %s of %s never started', v_lease.attempt, v_setting.attempts), 'sent');
    end if;
    v_ended := v_ended + 1;
  end loop;
  v_expired := array(select l::taskqueue.lease from unnest(v_expired) l where l.kill_reason is null and l.attempt < v_setting.attempts);
  if v_expired <> '{}' then
    perform taskqueue.return_jobs(p_setup, v_expired, 'sent: its agent never started it', 'expired');
  end if;
  for v_lease in
    select l.* from taskqueue.lease l
     where l.setup = p_setup and l.state = 'running' and l.expires_at < v_now and not l.brokered
     order by l.expires_at limit p_most for update skip locked
  loop
    perform taskqueue.end_lease(v_lease, case when v_lease.kill_reason is null then 'failed' else 'cancelled' end);
    v_lost := v_lost + 1;
  end loop;
  return query values ('sent', 'return', cardinality(v_expired)::bigint), ('sent', 'fail', v_ended), ('heartbeat', 'fail', v_lost);
end $$;

comment on function lifecycle.expire_leases(text, int) is
'Ends leases that have expired, up to so many of each kind: jobs that never started go back to their queue or, after the attempts of the setting, fail; jobs not heard of any more fail. Returns how many. Errors: PB002 (setup not granted).';
