-- GUARD.md, Quarantines.
create or replace function taskqueue.set_quarantine(p_setup text, p_kind text, p_site text, p_name text, p_why text)
returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_quarantine(p_kind, p_site, p_name);
  p_name := case p_kind when 'host' then taskqueue.host_of(to_jsonb(p_name)) else p_name end;
  perform taskqueue.require_reason(p_setup, p_why);
  perform taskqueue.enter_setup(p_setup);
  perform taskqueue.require_setup(p_setup);
  insert into taskqueue.quarantine as q (setup, site, kind, name, since, why, locks, is_automatic)
  values (p_setup, coalesce(p_site, ''), p_kind, coalesce(p_name, p_site), resource.clock(p_setup), p_why, true, false)
  on conflict (setup, site, name, kind) do update
     set since = excluded.since, why = excluded.why, locks = true, is_automatic = false, pause = null,
         next_probe_at = null, probe_job_id = null, probe_attempt = null;
  perform taskqueue.mark_guarded(p_setup);
end $$;

comment on function taskqueue.set_quarantine(text, text, text, text, text) is
  'Quarantines a worker node (kind host), a computing element (ce) or a site (site) until taskqueue.lift_quarantine: '
  'its requests get no job, and no probe. A null or empty p_site means a worker node whose requests name no site; for '
  'kind site, p_name is null or the site. Errors: PB001 (kind, site, name or reason), PB002 (setup not granted).';
