-- MATCHING.md, Reasons: a waiting job has one reason word, by the order of precedence there. Inlined.
create or replace function taskqueue.reason_of(
  p_found taskqueue.found_reason, p_held boolean, p_inserted_at timestamptz
) returns text
language sql stable as $$
  select case
    when ((p_found).kept).reason in ('misconfigured', 'too_large') then ((p_found).kept).reason
    when p_held or not (p_found).is_open then 'held'
    when ((p_found).kept).reason is null then 'unknown'
    when ((p_found).kept).reason = 'limited' then 'limited'
    when ((p_found).kept).reason = 'no_resource_seen' or ((p_found).kept).reason = 'waiting'
         and (((p_found).kind).last_seen >= (p_found).seen_since) is not true then 'no_resource_seen'
    when (p_found).overtaken_at > p_inserted_at then 'overtaken'
    else 'waiting' end
$$;

comment on function taskqueue.reason_of(taskqueue.found_reason, boolean, timestamptz) is
  'Why a job waits, in one word: misconfigured, too_large, held, unknown, limited, no_resource_seen, overtaken or '
  'waiting. p_held: whether the job itself is held.';
