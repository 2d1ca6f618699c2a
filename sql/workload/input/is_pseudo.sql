-- See conventions.md, Available input. JEDI makes jobs from datasets that represent no files; such jobs read no input.
create or replace function workload.is_pseudo(p_dataset workload.dataset) returns boolean
language sql immutable parallel safe as $$
  select coalesce((p_dataset).type in ('pseudo_input', 'pp_input'), false)
         or (p_dataset).dataset in ('pseudo_dataset', 'seq_number')
$$;

comment on function workload.is_pseudo(workload.dataset) is
  'Whether a dataset is a pseudo dataset: it makes jobs, but has no files to read.';
