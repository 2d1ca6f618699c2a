-- See task-brokerage.md, task-locality-size. A reason that begins with ! holds even if no nucleus passes
-- (task-brokerage.md, task-locality-disable).
create or replace function brokerage.rule_task_locality_size(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.needs_no_local_input(t, q, p, x) or t.located_bytes <= t.input_size_threshold * 1073741824 then null
    when case
      when (x ->> 'inclusive')::boolean then 100 * p.located_bytes::float8 < t.input_size_fraction * t.located_bytes
      else 100 * p.located_bytes::numeric <= t.input_size_fraction::numeric * t.located_bytes end
    then format('%s%s of %s bytes of its input are there, INPUT_SIZE_FRACTION is %s%%',
                case when not coalesce(brokerage.may_be_elsewhere(t, q, p, x), false) then '!' end,
                p.located_bytes, t.located_bytes, t.input_size_fraction)
  end
$$;

comment on function brokerage.rule_task_locality_size(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'task-locality-size: if the input is over INPUT_SIZE_THRESHOLD, more than INPUT_SIZE_FRACTION percent of its bytes '
  'are at the nucleus. Parameters inclusive, current_priority, period (boolean).';
