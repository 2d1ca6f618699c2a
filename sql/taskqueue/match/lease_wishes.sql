-- DRAWING.md, Many agents at once: one resource of each of some requests. Those with limits or a JobID go one after the
-- other, behind those that are drawn together. A description that is refused is an error of its request.
create or replace function taskqueue.lease_wishes(
  p_setup text, p_identity resource.identity, p_requests taskqueue.match_request[], p_open int[], p_wish int
) returns setof taskqueue.answer
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_resources jsonb[];
  v_numbers int[];
  v_askers taskqueue.asker[];
  v_known taskqueue.known_offer;
  -- one a request, so that its number is the subscript
  v_all taskqueue.known_offer[] := array_fill(null::taskqueue.known_offer, array[cardinality(p_requests)]);
  v_streams taskqueue.stream[];
  v_alone int[] := '{}'::int[];
  v_noted int[] := '{}'::int[];  -- whose description may have to be noted
  v_got taskqueue.answer[];
  v_hint text;
  v_request int;
begin
  select array_agg(r.resources -> p_wish order by r.number), array_agg(r.jobs order by r.number),
         array_agg(row(taskqueue.leased_under(r), r.subject)::taskqueue.asker order by r.number)
    into v_resources, v_numbers, v_askers
    from unnest(p_requests) r;
  foreach v_request in array p_open loop
    begin
      v_known := taskqueue.known_offer_of(p_setup, v_resources[v_request], p_identity);
      if taskqueue.goes_alone(v_known) then
        v_alone := v_alone || v_request;
        continue;
      end if;
      v_all[v_request] := v_known;
      if taskqueue.shall_note_resource(v_known, (v_known.offer).cpu_time, null, v_now) then
        v_noted := v_noted || v_request;
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
  perform taskqueue.note_resource(p_setup, v_resources[n.request], v_all[n.request], g.task_queue_id is not null,
                                  (select q.definition_id from taskqueue.task_queue q
                                    where q.setup = p_setup and q.task_queue_id = g.task_queue_id))
     from unnest(v_noted) n (request)
     left join lateral (select a.task_queue_id from unnest(v_got) a where a.request = n.request limit 1) g on true
    where taskqueue.shall_note_resource(v_all[n.request], ((v_all[n.request]).offer).cpu_time,
                                        g.task_queue_id is not null, v_now);
  return query select a.* from unnest(v_got) a;
  foreach v_request in array v_alone loop
    return query
      select v_request, l.job_id, l.task_queue_id, l.requirements, l.user_priority, l.attempt, null::jsonb
        from taskqueue.lease_jobs(p_setup, v_resources[v_request], v_numbers[v_request], null, null,
                                  v_askers[v_request]) l;
  end loop;
end $$;

comment on function taskqueue.lease_wishes(
  text, resource.identity, taskqueue.match_request[], int[], int) is
  'Leases jobs for the open requests, for the resource of each at place p_wish (from 0).';
