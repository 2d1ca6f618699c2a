-- The randomness comes from the tokens, which an agent cannot choose. Streams that are handled alone follow the others.
create or replace function taskqueue.new_streams(
  p_parsed taskqueue.parsed_description[], p_numbers int[], p_seed bigint default null
) returns taskqueue.stream[]
language plpgsql as $$
begin
  return array(
    select taskqueue.new_stream(
             t.number, t.request, t.token,
             case when p_seed is null then uuid_hash_extended(t.token, 0) else hashint8extended(t.number, p_seed) end,
             t.bucket_index, p_is_seeded => p_seed is not null, p_goes_alone => t.goes_alone)
      from (select (row_number() over (order by a.goes_alone, k.ordinality))::int as number,
                   k.ordinality::int as request, a.goes_alone, gen_random_uuid() as token,
                   width_bucket((k.offer).cpu_time, k.cpu_buckets) as bucket_index
              from unnest(p_parsed) with ordinality k
             cross join lateral (select p_seed is not null or (k.offer).job_id is not null as goes_alone) a
             cross join lateral generate_series(1, p_numbers[k.ordinality])
             where k.digest is not null offset 0) t
     order by t.number);
end $$;

comment on function taskqueue.new_streams(taskqueue.parsed_description[], int[], bigint) is
  'Makes streams, numbered from 1, for which nothing is drawn yet. p_parsed and p_numbers: the description and the '
  'number of jobs by number of request; a null description asks for no job. If p_seed is given, it determines the '
  'draws.';
