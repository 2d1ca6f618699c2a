-- The randomness comes from the token, which an agent cannot choose.
create or replace function taskqueue.new_stream(p_number int, p_request int, p_known taskqueue.known_offer)
returns taskqueue.stream
language plpgsql as $$
declare
  v_token uuid := gen_random_uuid();
begin
  return row(p_number, p_request, v_token, uuid_hash_extended(v_token, 0),
             width_bucket((p_known.offer).cpu_time, p_known.cpu_buckets), 0, 0, null, null,
             null)::taskqueue.stream;
end $$;

comment on function taskqueue.new_stream(int, int, taskqueue.known_offer) is
  'A stream at its beginning: a job is asked for, and nothing is drawn yet.';
