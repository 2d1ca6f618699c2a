-- See workload.input_run: jobs of whole files, cuts that continue in the next file, or a number of cuts of each file.
-- The function returns a set of one row, since the planner inlines only functions that return sets.
create or replace function workload.part_of_run(p_run workload.input_run, p_number bigint)
returns table (first_file bigint, last_file bigint, first_event bigint, events bigint)
language sql immutable rows 1 as $$
  select (p_run).first_file + case when (p_run).file_events is null then n.at * (p_run).files
                                   when (p_run).cuts is null then n.event / (p_run).file_events
                                   else n.cut / (p_run).cuts end,
         (p_run).first_file + case when (p_run).file_events is null then (n.at + 1) * (p_run).files - 1
                                   when (p_run).cuts is null then (n.event + (p_run).events - 1) / (p_run).file_events
                                   else n.cut / (p_run).cuts end,
         case when (p_run).file_events is null then (p_run).first_event
              when (p_run).cuts is null then n.event % (p_run).file_events
              else n.cut % (p_run).cuts * (p_run).events end,
         case when (p_run).cuts is null then (p_run).events
              else least((p_run).events, (p_run).file_events - n.cut % (p_run).cuts * (p_run).events) end
    from (select p_number - (p_run).number, (p_run).first_event + (p_number - (p_run).number) * (p_run).events,
                 (p_run).first_event / (p_run).events + p_number - (p_run).number) n(at, event, cut)
$$;

comment on function workload.part_of_run(workload.input_run, bigint) is
  'The primary files and the events of a job of a run: places of the first and the last file, events of the first file '
  'that an earlier job has, and events of the job (null = all events of its files).';
