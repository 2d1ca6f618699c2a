-- LEASES.md, Repeated requests: a request with one resource counts as the call taskqueue.match_jobs.
create or replace function taskqueue.asked_by(p_resources jsonb, p_jobs int) returns bigint
language sql immutable as $$
  select jsonb_hash_extended(case jsonb_array_length(p_resources) when 1 then p_resources -> 0 else p_resources end,
                             p_jobs)
$$;

comment on function taskqueue.asked_by(jsonb, int) is 'Hash of the resources and the number of jobs of a request.';
