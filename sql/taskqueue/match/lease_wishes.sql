-- DRAWING.md, Many agents at once: one resource of each of some requests. Those with limits or a JobID go one after the
-- other, behind those that are drawn together. A description that is refused is an error of its request.
create or replace function taskqueue.lease_wishes(p_setup text, p_requests jsonb, p_open int[], p_wish int)
returns setof taskqueue.answer
language plpgsql as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_resources jsonb[] := array(select r -> 'resources' -> p_wish from jsonb_array_elements(p_requests) r);
  v_numbers int[] := array(select case when r ->> 'n' ~ '^[0-9]{1,4}$' then (r ->> 'n')::int else 1 end
                             from jsonb_array_elements(p_requests) r);
  v_askers taskqueue.asker[] := array(
    select row(case when taskqueue.request_fault(r) is null then taskqueue.leased_under(r) end,
               coalesce(r ->> 'subject', (resource.subject()).name))::taskqueue.asker
      from jsonb_array_elements(p_requests) r);
  v_known taskqueue.known_offer;
  -- one a request, so that its number is the subscript
  v_all taskqueue.known_offer[] := array(select null::taskqueue.known_offer from jsonb_array_elements(p_requests));
  v_streams taskqueue.stream[];
  v_alone int[] := '{}'::int[];
  v_got taskqueue.answer[];
  v_hint text;
  v_request int;
begin
  foreach v_request in array p_open loop
    begin
      v_known := taskqueue.known_offer_of(p_setup, v_resources[v_request], v_identity);
      if taskqueue.goes_alone(v_known) then
        v_alone := v_alone || v_request;
      else
        v_all[v_request] := v_known;
      end if;
    exception when sqlstate 'PB001' then
      get stacked diagnostics v_hint = pg_exception_hint;
      return next row(v_request, null, null, null, null, null,
                      jsonb_build_object('code', sqlstate, 'message', sqlerrm, 'hint', v_hint))::taskqueue.answer;
    end;
  end loop;
  v_streams := taskqueue.new_streams(v_all, v_numbers);
  v_got := array(
    select row(v_streams[l.number].request, l.job_id, l.task_queue_id, l.requirements, l.user_priority, l.attempt,
               null)::taskqueue.answer
      from taskqueue.lease_together(p_setup, v_resources, v_all, v_streams, v_askers) l);
  perform taskqueue.note_resource(p_setup, v_resources[k.ordinality], v_all[k.ordinality], g.is_matched,
                                  (select q.definition_id
                                     from unnest(v_got) a
                                     join taskqueue.task_queue q on q.setup = p_setup
                                                                and q.task_queue_id = a.task_queue_id
                                    where a.request = k.ordinality limit 1))
     from unnest(v_all) with ordinality k
    cross join lateral (select exists (select from unnest(v_got) a where a.request = k.ordinality) as is_matched) g
    where k.digest is not null
      and taskqueue.shall_note_resource(v_all[k.ordinality], (k.offer).cpu_time, g.is_matched, resource.clock(p_setup));
  return query select a.* from unnest(v_got) a;
  foreach v_request in array v_alone loop
    return query
      select v_request, l.job_id, l.task_queue_id, l.requirements, l.user_priority, l.attempt, null::jsonb
        from taskqueue.lease_jobs(p_setup, v_resources[v_request], v_numbers[v_request], null, null,
                                          v_askers[v_request]) l;
  end loop;
end $$;

comment on function taskqueue.lease_wishes(text, jsonb, int[], int) is
  'Leases jobs for the open requests, for the resource of each at place p_wish (from 0).';
