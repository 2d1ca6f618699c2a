-- DRAWING.md, Many agents at once: the requests of a call are read once. If several have the same id, the first one
-- counts.
create or replace function taskqueue.read_requests(p_requests jsonb) returns taskqueue.match_request[]
language plpgsql stable as $$
declare
  v_caller text := (resource.subject()).name;
  v_is_service boolean := resource.is_service();
begin
  return array(
    with asked as materialized (
      select n::int as number, e.request, taskqueue.request_fault(e.request) as fault
        from jsonb_array_elements(p_requests) with ordinality e (request, n)
    ), read as materialized (
      select a.number, a.request -> 'resources' as resources, coalesce((a.request ->> 'n')::int, 1) as jobs,
             nullif(a.request ->> 'request_id', '')::uuid as request_id, a.request ->> 'subject' as subject
        from asked a
       where a.fault is null
    )
    select row(r.number, r.resources, r.jobs, case when e.error is null then r.request_id end,
               coalesce(r.subject, v_caller), e.error)::taskqueue.match_request
      from (select i.*, row_number() over (partition by i.request_id, i.subject is null or v_is_service
                                           order by i.number) as turn
              from read i) r
     cross join lateral (select case
       when r.subject is not null and not v_is_service
       then jsonb_build_object('code', 'PB002', 'message', 'subject is for the service alone',
                               'hint', 'Leave it out: a request counts as one of the login.')
       when r.request_id is not null and r.turn > 1
       then jsonb_build_object('code', 'PB001', 'hint', 'Use a new request id for each request.',
                               'message', format('request id %s occurs twice in the call', r.request_id))
       end as error offset 0) e
     union all
    select row(a.number, null, null, null, null,
               jsonb_build_object('code', 'PB001', 'message', a.fault, 'hint',
                                  'A request is {"resources": [{...}, ...], "n": 1, "request_id": "..."}.')
              )::taskqueue.match_request
      from asked a where a.fault is not null
     order by 1);
end $$;

comment on function taskqueue.read_requests(jsonb) is
  'The requests of taskqueue.match_many in their order, with the reason for each one that is refused.';
