-- LEASES.md, Repeated requests: a request with one resource is the call taskqueue.match_jobs.
create or replace function taskqueue.asked_by(p_request jsonb) returns bigint
language sql immutable as $$
  select jsonb_hash_extended(case jsonb_array_length(p_request -> 'resources')
                                  when 1 then p_request -> 'resources' -> 0 else p_request -> 'resources' end,
                             coalesce((p_request ->> 'n')::bigint, 1))
$$;

comment on function taskqueue.asked_by(jsonb) is 'What a request asks for, as taskqueue.request.asked.';
