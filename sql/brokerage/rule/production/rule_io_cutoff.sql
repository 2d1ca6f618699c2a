-- See production-filters.md, io-cutoff. The missing bytes and files must both be below their cutoffs.
create or replace function brokerage.rule_io_cutoff(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.io_intensity > t.io_intensity_cutoff and t.input_bytes > 0
         and not ((t.input_bytes - coalesce(p.available_bytes, 0))::float8 < t.size_cutoff_to_move_input * 1073741824
                  and (t.input_files - coalesce(p.available_files, 0))::float8 < t.num_cutoff_to_move_input)
    then format('ioIntensity is %s; %s GB and %s files are missing, the cutoffs are %s GB and %s files',
                t.io_intensity,
                round((t.input_bytes - coalesce(p.available_bytes, 0)) / 1073741824.0, 3),
                t.input_files - coalesce(p.available_files, 0),
                t.size_cutoff_to_move_input, t.num_cutoff_to_move_input)
  end
$$;

comment on function brokerage.rule_io_cutoff(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'io-cutoff: a task of high ioIntensity goes only to queues at which little of its input is missing.';
