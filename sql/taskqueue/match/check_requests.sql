-- These faults in a list of requests make the whole call an error.
create or replace function taskqueue.check_requests(p_setup text, p_requests jsonb) returns void
language plpgsql stable as $$
declare
  v_jobs numeric;
begin
  perform taskqueue.require_within(p_setup, 'batch_size', 'list of requests', taskqueue.json_size(p_requests));
  if jsonb_typeof(p_requests) is distinct from 'array' then
    raise exception 'list of requests is %, not a JSON array', coalesce(resource.shown(p_requests), 'null')
      using errcode = 'PB001', hint = 'Give [{"resources": [{"CPUTime": 86400}], "n": 1, "request_id": "..."}, ...].';
  elsif jsonb_array_length(p_requests) > 1000 then
    raise exception 'list of requests has % elements, at most 1000', jsonb_array_length(p_requests)
      using errcode = 'PB001', hint = 'Ask in several calls.';
  end if;
  select sum(case when jsonb_typeof(r -> 'n') = 'number' then greatest((r -> 'n')::numeric, 1) else 1 end) into v_jobs
    from jsonb_array_elements(p_requests) r;
  if v_jobs > 1000 then
    raise exception 'n is % in all requests together, at most 1000', v_jobs
      using errcode = 'PB001', hint = 'Ask in several calls.';
  end if;
end $$;

comment on function taskqueue.check_requests(text, jsonb) is
  'Refuses a faulty list of requests. Errors: PB001 (not an array, more than 1000 requests or jobs, too many bytes).';
