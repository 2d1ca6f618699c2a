-- For a stream that another function began (taskqueue.match_job) or that draws again, named arguments give the
-- differences from a new stream. Inlined.
create or replace function taskqueue.new_stream(
  p_number int, p_request int, p_token uuid, p_seed bigint, p_bucket_index int, p_is_seeded boolean default false,
  p_goes_alone boolean default false, p_tries int default 0, p_max_tries int default 8, p_last_key float8 default 0,
  p_is_listed boolean default false, p_passed bigint[] default '{}', p_task_queue_id bigint default null,
  p_definition_id bigint default null, p_slots jsonb default '[]', p_card taskqueue.card default null
) returns taskqueue.stream
language sql immutable as $$
  select row(p_number, p_request, p_token, p_seed, p_is_seeded, p_goes_alone, p_bucket_index, p_tries, p_max_tries,
             p_last_key, p_is_listed, p_passed, p_task_queue_id, p_definition_id, p_slots, p_card)::taskqueue.stream
$$;

comment on function taskqueue.new_stream(
  int, int, uuid, bigint, int, boolean, boolean, int, int, float8, boolean, bigint[], bigint, bigint, jsonb,
  taskqueue.card) is
  'Makes a stream from the columns of taskqueue.stream; without the optional ones, the stream is new.';
