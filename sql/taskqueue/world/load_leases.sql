-- worlds.md, Loading: the agents of the loaded leases continue with their attempts. Existing limits count the leases,
-- and no other call works in the setup at the same time. The status of a job of brokerage follows its lease, so the
-- lease must know it; the status is loaded with the jobs, before the leases.
-- Long because a lease has many fields, and each is named four times.
create or replace function taskqueue.load_leases(p_setup text, p_leases jsonb) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp set timezone = 'UTC' as $$
declare
  v_lease record;
  v_status text;  -- of a job of brokerage that has not ended
  v_facts taskqueue.run_facts;
  v_count bigint := 0;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform resource.check_keys('lease', p_leases, '{"id": "an integer of 64 bits", "requirements": "JSON",
    "user_priority": "a number", "state": "a text", "attempt": "a text", "losses": "an integer of 16 bits",
    "failures": "an integer of 16 bits", "last_token": "a text", "avoid": "a text", "avoid_until": "a time",
    "site": "a text", "ce": "a text", "role": "a text", "subject": "a text", "matched_at": "a time",
    "reported_at": "a time", "expires_at": "a time", "kill_reason": "a text", "host": "a text", "error": "JSON",
    "used": "JSON"}');
  for v_lease in
    select *
      from jsonb_to_recordset(p_leases) as l (id bigint, requirements jsonb, user_priority numeric, state text,
                                              attempt text, losses smallint, failures smallint, last_token text,
                                              avoid text, avoid_until timestamptz, site text, ce text, role text,
                                              subject text, matched_at timestamptz, reported_at timestamptz,
                                              expires_at timestamptz, kill_reason text, host text, error jsonb,
                                              used jsonb)
     order by l.id
  loop
    select w.status into v_status
      from workload.job w where w.setup = p_setup and w.job_id = v_lease.id and not workload.is_end(w.status);
    if v_lease.attempt is null or v_lease.attempt !~ '^[1-9][0-9]{0,8}-[0-9a-f]{32}$' then
      raise exception 'lease %: invalid attempt %', v_lease.id, coalesce(quote_literal(v_lease.attempt), 'null')
        using errcode = 'PB001', hint = 'An attempt is <number>-<32 hex digits>, as taskqueue.dump_leases writes it.';
    elsif v_lease.state is null or v_lease.state not in ('matched', 'running') or v_lease.role is null
          or v_lease.matched_at is null or v_lease.expires_at is null then
      raise exception 'lease %: invalid state %, role %, matched_at % or expires_at %', v_lease.id,
        coalesce(v_lease.state, 'null'), coalesce(v_lease.role, 'null'),
            coalesce(v_lease.matched_at::text, 'null'), coalesce(v_lease.expires_at::text, 'null')
        using errcode = 'PB001', hint = 'A lease has state (matched or running), role, matched_at and expires_at.';
    elsif v_lease.losses < 0 then
      raise exception 'lease %: losses is %', v_lease.id, v_lease.losses
        using errcode = 'PB001', hint = 'Losses are how often the job was lost before this match, 0 or more.';
    elsif v_lease.failures < 0 or v_lease.last_token !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
      raise exception 'lease %: failures is % and last_token is %', v_lease.id,
        coalesce(v_lease.failures::text, 'null'), coalesce(quote_literal(left(v_lease.last_token, 4) || '...'), 'null')
        using errcode = 'PB001', hint = 'failures is the number of retries by retry rules, 0 or more; '
                                        'last_token is the token of the attempt that failed last.';
    elsif taskqueue.avoid_fault(v_lease.avoid, v_lease.avoid_until) is not null then
      raise exception 'lease %: %', v_lease.id, taskqueue.avoid_fault(v_lease.avoid, v_lease.avoid_until)
        using errcode = 'PB001', hint = 'avoid names a host that the job avoids until avoid_until.';
    elsif v_status not in ('sent', 'starting', 'running', 'holding', 'transferring') then
      raise exception 'job % is % in brokerage, so it cannot be loaded as leased', v_lease.id, v_status
        using errcode = 'PB005', hint = 'Load the jobs and the leases of one dump together.';
    elsif exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = v_lease.id) then
      raise exception 'job % is waiting, so it cannot be loaded as leased', v_lease.id
        using errcode = 'PB005', hint = 'Load leases into a setup where these jobs do not wait.';
    end if;
    v_facts := taskqueue.checked_facts(v_lease.error, v_lease.used, v_lease.host);
    perform taskqueue.note_events(
      array(select (l, 'replaced', null, null, null, null, null)::taskqueue.lease_event from taskqueue.lease l
             where l.setup = p_setup and l.job_id = v_lease.id
               and taskqueue.attempt_text(l.attempt, l.token) <> v_lease.attempt), true);
    perform taskqueue.keep_leased_answers(array(select l from taskqueue.lease l
                                                 where l.setup = p_setup and l.job_id = v_lease.id));
    perform workload.forget_payloads(p_setup, array[v_lease.id])  -- the payload of another job with this id
      where not exists (select from taskqueue.lease l
                         where l.setup = p_setup and l.job_id = v_lease.id
                           and taskqueue.attempt_text(l.attempt, l.token) = v_lease.attempt);
    insert into taskqueue.lease (setup, job_id, attempt, losses, failures, last_token, token, task_queue_id,
                                 definition_id, user_priority, state, site, grid_ce, role_name, matched_at, reported_at,
                                 expires_at, kill_reason, brokered, subject, host, error, cpu_used, wall_used,
                                 ram_used, cores_used, avoid, avoid_until)
    values (p_setup, taskqueue.job_id(to_jsonb(v_lease.id)), split_part(v_lease.attempt, '-', 1)::int,
            coalesce(v_lease.losses, 0), coalesce(v_lease.failures, 0), v_lease.last_token::uuid,
            split_part(v_lease.attempt, '-', 2)::uuid, 0,
            taskqueue.definition_of(p_setup, taskqueue.canonical_requirements(p_setup, v_lease.requirements)),
            taskqueue.job_priority(v_lease.id, v_lease.user_priority), v_lease.state,
            v_lease.site, v_lease.ce, v_lease.role, v_lease.matched_at,
            v_lease.reported_at, v_lease.expires_at, v_lease.kill_reason,
            v_status is not null, v_lease.subject, v_facts.host, v_facts.error, v_facts.cpu_used, v_facts.wall_used,
            v_facts.ram_used, v_facts.cores_used, v_lease.avoid, v_lease.avoid_until)
    on conflict (setup, job_id) do update
       set attempt = excluded.attempt, losses = excluded.losses, failures = excluded.failures,
           last_token = excluded.last_token, avoid = excluded.avoid, avoid_until = excluded.avoid_until,
           token = excluded.token,
           definition_id = excluded.definition_id, user_priority = excluded.user_priority, state = excluded.state,
           site = excluded.site, grid_ce = excluded.grid_ce, role_name = excluded.role_name,
           matched_at = excluded.matched_at, reported_at = excluded.reported_at, expires_at = excluded.expires_at,
           kill_reason = excluded.kill_reason, brokered = excluded.brokered, subject = excluded.subject,
           host = excluded.host, error = excluded.error, cpu_used = excluded.cpu_used,
           wall_used = excluded.wall_used, ram_used = excluded.ram_used, cores_used = excluded.cores_used,
           request_id = null, asked = null;
    delete from taskqueue.ended e where e.setup = p_setup and e.job_id = v_lease.id;
    v_count := v_count + 1;
  end loop;
  perform taskqueue.set_slots(p_setup, l.limit_id)
     from taskqueue.site_limit l
    where l.setup = p_setup and l.kind = 'running';
  return v_count;
end $$;

comment on function taskqueue.load_leases(text, jsonb) is
  'Stores leases as taskqueue.dump_leases gives them, replacing leases of the same jobs (in the history: replaced), '
  'and returns how many. Errors: PB001, PB002 (setup not granted), PB005 (a job waits, or its status in brokerage is '
  'that of a job without a lease), PB006 (busy).';
