-- DRAWING.md, Many agents at once. The function handles one resource of each request. Requests with a JobID follow
-- those that are drawn together (taskqueue.new_streams). A refused description is an error of its request alone.
create or replace function taskqueue.lease_alternatives(
  p_setup text, p_identity resource.identity, p_requests taskqueue.match_request[], p_open int[], p_alternative int
) returns setof taskqueue.answer
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_resources jsonb[];
  v_numbers int[];
  v_askers taskqueue.asker[];
  v_parsed taskqueue.parsed_description;
  -- one element per request; the number of the request is the subscript
  v_all taskqueue.parsed_description[] :=
    array_fill(null::taskqueue.parsed_description, array[cardinality(p_requests)]);
  v_leased taskqueue.stream[];
  v_claim record;
  v_probes taskqueue.quarantine[] := '{}'::taskqueue.quarantine[];  -- and the requests that claimed them
  v_probing int[] := '{}'::int[];
  v_noted int[] := '{}'::int[];  -- requests whose description may have to be noted
  v_hint text;
  v_request int;
begin
  select array_agg(r.resources -> p_alternative order by r.number), array_agg(r.jobs order by r.number),
         array_agg(row(u.request_id, case when u.request_id is not null
                                          then jsonb_hash_extended(r.resources -> p_alternative, 1) end,
                       r.subject, taskqueue.host_of(r.resources -> p_alternative -> 'HostName'), null
                      )::taskqueue.asker order by r.number)
    into v_resources, v_numbers, v_askers
    from unnest(p_requests) r cross join lateral (select taskqueue.leased_under(r) as request_id) u;
  foreach v_request in array p_open loop
    begin
      v_parsed := taskqueue.parsed_description_of(p_setup, v_resources[v_request], p_identity);
      if v_parsed.guarded then
        v_claim := taskqueue.claim_probe(v_parsed, (v_askers[v_request]).host, v_probes);
        continue when v_claim.is_refused;
        if (v_claim.probe).setup is not null then
          v_numbers[v_request] := 1;
          v_probes := v_probes || v_claim.probe;
          v_probing := v_probing || v_request;
        end if;
      end if;
      v_all[v_request] := v_parsed;
      if v_askers[v_request].host is not null then
        v_askers[v_request].hosts := taskqueue.hosts_at(v_askers[v_request].host, (v_parsed.offer).sites);
      end if;
      if taskqueue.shall_note_resource(v_parsed, (v_parsed.offer).cpu_time, null, v_now) then
        v_noted := v_noted || v_request;
      end if;
    exception when sqlstate 'PB001' then
      get stacked diagnostics v_hint = pg_exception_hint;
      return next row(v_request, null, null, null, null, null,
                      jsonb_build_object('code', sqlstate, 'message', sqlerrm, 'hint', v_hint))::taskqueue.answer;
    end;
  end loop;
  v_leased := taskqueue.lease_together(p_setup, v_all, taskqueue.new_streams(v_all, v_numbers), v_askers);
  perform taskqueue.note_probe(v_probes[p.n], array(select s from unnest(v_leased) s where s.request = p.request))
     from unnest(v_probing) with ordinality p (request, n);
  return query
    select l.request, l.job_id, l.task_queue_id, l.requirements, l.user_priority, l.attempt, null::jsonb
      from taskqueue.leased_jobs(p_setup, v_leased) l;
  perform taskqueue.note_resource(p_setup, v_resources[n.request], v_all[n.request], g.definition_id is not null,
                                  g.definition_id)
     from unnest(v_noted) n (request)
     left join lateral (select s.definition_id from unnest(v_leased) s where s.request = n.request limit 1) g on true
    where taskqueue.shall_note_resource(v_all[n.request], ((v_all[n.request]).offer).cpu_time,
                                        g.definition_id is not null, v_now);
end $$;

comment on function taskqueue.lease_alternatives(
  text, resource.identity, taskqueue.match_request[], int[], int) is
  'Leases jobs for the open requests: each one asks for its resource number p_alternative (from 0).';
