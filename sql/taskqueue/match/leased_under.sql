-- LEASES.md, Repeated requests. Inlined.
create or replace function taskqueue.leased_under(p_request jsonb) returns uuid
language sql immutable as $$
  select case when coalesce(p_request ->> 'n', '1') = '1' and jsonb_array_length(p_request -> 'resources') = 1
              then nullif(p_request ->> 'request_id', '')::uuid end
$$;

comment on function taskqueue.leased_under(jsonb) is
  'The id of a request of taskqueue.match_many that asks for one job for one resource, as taskqueue.match_job does: '
  'the lease has it as request_id. Null: no id, or another request.';
