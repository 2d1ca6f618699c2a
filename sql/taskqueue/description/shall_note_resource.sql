-- Which calls note their resource (taskqueue.note_resource): the first of a description or of a CPU bucket, else one
-- in fifty, or one in ten where nothing matched.
create or replace function taskqueue.shall_note_resource(
  p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean
) returns boolean
language sql as $$
  select p_known.seen_at is null or random() < case when p_matched then 0.02 else 0.1 end
      or not coalesce(p_known.cpu_buckets[width_bucket(p_cpu_time, p_known.cpu_buckets)],
                      0)::bigint = any (p_known.seen)
$$;

comment on function taskqueue.shall_note_resource(taskqueue.known_offer, bigint, boolean) is
  'Whether a call notes its resource; p_matched: whether it found a job.';
