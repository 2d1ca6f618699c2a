-- worlds.md, Dumping: leases are dumped on request only, because a lease contains the token of the attempt. Request ids
-- are left out, since only the running server keeps answers for ten minutes.
create or replace function taskqueue.dump_leases(p_setup text) returns table (lease jsonb)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object(
             'id', l.job_id, 'requirements', d.requirements, 'user_priority', l.user_priority, 'state', l.state,
             'attempt', taskqueue.attempt_text(l.attempt, l.token), 'losses', l.losses,
             'failures', l.failures, 'last_token', l.last_token, 'site', l.site,
             'avoid', l.avoid, 'avoid_until', l.avoid_until at time zone 'UTC',
             'ce', l.grid_ce, 'role', l.role_name, 'subject', l.subject,
             'matched_at', l.matched_at at time zone 'UTC', 'reported_at', l.reported_at at time zone 'UTC',
             'expires_at', l.expires_at at time zone 'UTC', 'kill_reason', l.kill_reason,
             'host', l.host, 'error', l.error,
             'used', nullif(jsonb_strip_nulls(jsonb_build_object('cpu', l.cpu_used, 'wall', l.wall_used,
                                                                 'ram', l.ram_used, 'cores', l.cores_used)), '{}'))
      from taskqueue.lease l
      join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
     where l.setup = p_setup
     order by l.job_id;
end $$;

comment on function taskqueue.dump_leases(text) is
  'The leases of a setup with the tokens of their attempts (keep them secret), as taskqueue.load_leases takes them; '
  'times in UTC. Errors: PB002 (setup not granted).';
