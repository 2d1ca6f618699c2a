-- GUARD.md, Probes. The end of a probe is found by its job and attempt, so a probe is judged once, whatever the mark
-- is. A job may last for days, but a broken worker node fails a job in a minute.
create or replace function taskqueue.judge_probes(p_setup text, p_now timestamptz)
returns table (action text, kind text, site text, name text, why text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_probe record;
begin
  for v_probe in
    select q.*, case when l.job_id is not null then 'running' else e.event end as event,
           e.event in ('expired', 'released') or e.event = 'failed' and e.error_class <> 'payload' as is_bad
      from taskqueue.quarantine q
      left join taskqueue.lease l on l.setup = p_setup and l.job_id = q.probe_job_id and l.attempt = q.probe_attempt
      left join lateral (
        select h.event, case when taskqueue.was_killed(h) then 'payload' else coalesce(h.error_class, '') end
                 as error_class
          from taskqueue.history h
         where h.setup = p_setup and h.job_id = q.probe_job_id and h.attempt = q.probe_attempt
           and h.at >= q.probed_at
           and h.event in ('finished', 'failed', 'cancelled', 'closed', 'released', 'expired')
         order by h.at  -- the job may end again while it waits
         limit 1) e on true
     where q.setup = p_setup and q.probe_job_id is not null
       and (l.job_id is null or l.state = 'running' and q.probed_at <= p_now - interval '30 minutes')
     order by q.site, q.name
       for update of q skip locked
  loop
    if v_probe.event in ('finished', 'running') then
      return query select 'lifted', d.* from taskqueue.drop_quarantine(p_setup, 'host', v_probe.site, v_probe.name) d;
    else
      v_probe.pause := case when v_probe.is_bad then interval '20 minutes' else v_probe.pause end;
      update taskqueue.quarantine q
         set probe_job_id = null, probe_attempt = null, pause = v_probe.pause, next_probe_at = p_now + v_probe.pause
       where q.setup = p_setup and q.site = v_probe.site and q.name = v_probe.name and q.kind = 'host';
      return query values ('probed', 'host', v_probe.site, v_probe.name,
                           format('probe %s, the next in %s', coalesce(v_probe.event, 'lost'), v_probe.pause));
    end if;
  end loop;
  -- if the clock was set back, the probe would come too late
  update taskqueue.quarantine q
     set next_probe_at = p_now + q.pause
   where q.setup = p_setup and q.next_probe_at > p_now + q.pause + interval '1 minute';
end $$;

comment on function taskqueue.judge_probes(text, timestamptz) is
  'Judges probes. A probe that has finished, or runs half an hour after its match, lifts the quarantine. If a probe '
  'failed with any class but payload, was released, or its lease expired, the pause until the next probe is 20 '
  'minutes. After any other end the pause stays.';
