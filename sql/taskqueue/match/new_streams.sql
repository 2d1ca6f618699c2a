-- The randomness comes from the tokens, which an agent cannot choose.
create or replace function taskqueue.new_streams(
  p_after int, p_request int, p_known taskqueue.known_offer, p_number int
) returns taskqueue.stream[]
language plpgsql as $$
declare
  v_bucket_index int := width_bucket((p_known.offer).cpu_time, p_known.cpu_buckets);
begin
  return array(
    select row(p_after + t.number, p_request, t.token, uuid_hash_extended(t.token, 0), v_bucket_index, 0, 0, null, null,
               null)::taskqueue.stream
      from (select n as number, gen_random_uuid() as token from generate_series(1, p_number) n offset 0) t);
end $$;

comment on function taskqueue.new_streams(int, int, taskqueue.known_offer, int) is
  'Streams of a request at their beginning, numbered from p_after + 1: p_number jobs are asked for, and nothing is '
  'drawn yet.';
