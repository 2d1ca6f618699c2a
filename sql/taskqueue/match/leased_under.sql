-- LEASES.md, Repeated requests. Inlined.
create or replace function taskqueue.leased_under(p_request taskqueue.match_request) returns uuid
language sql immutable as $$
  select case when p_request.jobs = 1 and jsonb_array_length(p_request.resources) = 1 then p_request.request_id end
$$;

comment on function taskqueue.leased_under(taskqueue.match_request) is
  'The id of a request of taskqueue.match_many that asks for one job for one resource, as taskqueue.match_job does: '
  'the lease keeps it as request_id. Null if there is no id, or for any other request.';
