-- The call also notes that the resource asked.
create or replace function taskqueue.lease_for_resource(
  p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null, p_request_id uuid default null,
  p_asked bigint default null, p_parsed taskqueue.parsed_description default null
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql rows 1 as $$
declare
  v_parsed taskqueue.parsed_description := case
    when p_parsed.digest is not null then p_parsed
    else taskqueue.parsed_description_of(p_setup, p_resource, resource.identify(p_setup)) end;
  v_host text := taskqueue.host_of(p_resource -> 'HostName');
  v_leased taskqueue.stream[];
  v_claim record;
  v_probe taskqueue.quarantine;
begin
  if v_parsed.guarded then
    v_claim := taskqueue.claim_probe(v_parsed, v_host);
    if v_claim.is_refused then
      return;
    elsif v_claim.probe is distinct from null then
      v_probe := v_claim.probe;
      p_limit := 1;
    end if;
  end if;
  v_leased := taskqueue.lease_together(
    p_setup, array[v_parsed], taskqueue.new_streams(array[v_parsed], array[p_limit], p_seed),
    array[row(p_request_id, p_asked, (resource.subject()).name, v_host,
              taskqueue.hosts_at(v_host, (v_parsed.offer).sites))::taskqueue.asker]);
  if v_probe.setup is not null then
    perform taskqueue.note_probe(v_probe, v_leased);
  end if;
  return query
    select l.job_id, l.task_queue_id, l.requirements, l.user_priority, l.attempt
      from taskqueue.leased_jobs(p_setup, v_leased) l;
  if taskqueue.shall_note_resource(v_parsed, (v_parsed.offer).cpu_time, found, resource.clock(p_setup)) then
    perform taskqueue.note_resource(p_setup, p_resource, v_parsed, found, v_leased[1].definition_id);
  end if;
end $$;

comment on function taskqueue.lease_for_resource(
  text, jsonb, int, bigint, uuid, bigint, taskqueue.parsed_description) is
  'Leases up to p_limit jobs to a resource; with a seed, the draws follow from the seed. p_request_id and p_asked are '
  'kept with the lease of one job. p_parsed: the parsed description, if the caller has it. Errors: PB001 '
  '(description), PB002 (setup not granted).';
