-- See production-filters.md, io-cutoff. The rule rejects above the cutoffs, in whole MiB. As a set rule it rejects no
-- queue if no queue passes. It is applied first with copies on tape, then without them (production-filters.md,
-- io-cutoff-disk).
create or replace function brokerage.rule_io_cutoff_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when t.io_intensity > t.io_intensity_cutoff and t.input_bytes > 0 and t.is_merging is not true
         and t.event_service is distinct from 1
         and not brokerage.is_only_site(t, q, p)
         and (floor((t.input_bytes - coalesce(case when (x ->> 'tape')::boolean then p.reachable_bytes
                                                   else p.available_bytes end, 0)) / 1048576::float8)
              > 1024 * t.size_cutoff_to_move_input
              or t.input_files - coalesce(case when (x ->> 'tape')::boolean then p.reachable_files
                                               else p.available_files end, 0) > t.num_cutoff_to_move_input)
    then format('ioIntensity is %s; %s GB and %s files are missing%s, the cutoffs are %s GB and %s files',
                t.io_intensity,
                round((t.input_bytes - coalesce(case when (x ->> 'tape')::boolean then p.reachable_bytes
                                                     else p.available_bytes end, 0)) / 1073741824.0, 3),
                t.input_files
                - coalesce(case when (x ->> 'tape')::boolean then p.reachable_files else p.available_files end, 0),
                case when (x ->> 'tape')::boolean then ' even with tape' end, t.size_cutoff_to_move_input,
                t.num_cutoff_to_move_input)
  end
$$;

comment on function brokerage.rule_io_cutoff_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'io-cutoff of panda2026: a task of high ioIntensity goes only to queues at which the missing input is within the '
  'cutoffs. Parameter tape (boolean): copies on tape count.';
