-- These calls note their resource (taskqueue.note_resource): the first one with a description or a CPU bucket; if the
-- last note is five minutes old, one call in fifty, or one in ten of those that found no match; if it is fifteen
-- minutes old, every call. Inlined.
create or replace function taskqueue.shall_note_resource(
  p_parsed taskqueue.parsed_description, p_cpu_time bigint, p_matched boolean, p_now timestamptz
) returns boolean
language sql as $$
  select p_parsed.seen_at is null
      or p_parsed.seen_at < p_now - interval '5 minutes'
         and (random() < case when p_matched then 0.02 when not p_matched then 0.1 else 1 end
              or p_parsed.seen_at < p_now - interval '15 minutes')
      or not coalesce(p_parsed.cpu_buckets[width_bucket(p_cpu_time, p_parsed.cpu_buckets)],
                      0)::bigint = any (p_parsed.seen)
$$;

comment on function taskqueue.shall_note_resource(taskqueue.parsed_description, bigint, boolean, timestamptz) is
  'Whether a call notes its resource; p_matched: whether it found a job, or null if that is not known yet (the answer '
  'false is then final). p_now: time of the setup.';
