-- The randomness comes from the tokens, which an agent cannot choose.
create or replace function taskqueue.new_streams(p_known taskqueue.known_offer[], p_numbers int[])
returns taskqueue.stream[]
language plpgsql as $$
begin
  return array(
    select row(t.number, t.request, t.token, uuid_hash_extended(t.token, 0), t.bucket_index, 0, 0, null, null,
               null)::taskqueue.stream
      from (select row_number() over (order by k.ordinality) as number, k.ordinality as request,
                   width_bucket((k.offer).cpu_time, k.cpu_buckets) as bucket_index, gen_random_uuid() as token
              from unnest(p_known) with ordinality k
             cross join lateral generate_series(1, p_numbers[k.ordinality])
             where k.digest is not null offset 0) t
     order by t.number);
end $$;

comment on function taskqueue.new_streams(taskqueue.known_offer[], int[]) is
  'Streams at their beginning, numbered from 1: nothing is drawn yet. p_known, p_numbers: the description and how many '
  'jobs are asked for, by number of request; null descriptions ask for nothing.';
