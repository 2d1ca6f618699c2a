-- analysis-candidates.md, anal-locality: the locality of the input of such tasks is not checked.
create or replace function brokerage.needs_no_input_there(t brokerage.task_facts) returns boolean
language sql stable parallel safe as $$
  select coalesce(t.task_priority >= 2000, false) or coalesce(t.io_intensity <= t.io_intensity_cutoff_user, false)
$$;

comment on function brokerage.needs_no_input_there(brokerage.task_facts) is
  'Whether an analysis task may run at a queue without its input: taskPriority of 2000 or more, or ioIntensity up to '
  'IO_INTENSITY_CUTOFF_USER.';
