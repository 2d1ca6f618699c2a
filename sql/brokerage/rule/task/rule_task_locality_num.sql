-- See task-brokerage.md, task-locality-num. A reason that begins with ! holds even if no nucleus passes
-- (task-brokerage.md, task-locality-disable).
create or replace function brokerage.rule_task_locality_num(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.needs_no_local_input(t, q, p, x) or t.located_files <= t.input_num_threshold then null
    when case
      when (x ->> 'inclusive')::boolean then 100 * p.located_files::float8 < t.input_num_fraction * t.located_files
      else 100 * p.located_files::numeric <= t.input_num_fraction::numeric * t.located_files end
    then format('%s%s of %s files of its input are there, INPUT_NUM_FRACTION is %s%%',
                case when not coalesce(brokerage.may_be_elsewhere(t, q, p, x), false) then '!' end,
                p.located_files, t.located_files, t.input_num_fraction)
  end
$$;

comment on function brokerage.rule_task_locality_num(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'task-locality-num: if the input is over INPUT_NUM_THRESHOLD, more than INPUT_NUM_FRACTION percent of its files are '
  'at the nucleus. Parameters inclusive, current_priority, period (boolean).';
