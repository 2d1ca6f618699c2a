-- The jobs of a task follow the files, so the jobs that read some of the files p_first to p_last have numbers without a
-- gap: from the one that has the first event of the first file to the one that has the last event of the last file.
create or replace function workload.parts_of_files(
  p_setup text, p_task_id bigint, p_first bigint, p_last bigint, p_begun boolean
) returns int8range
language sql stable as $$
  select int8range(
           (f.run).number + case when (f.run).file_events is null then (p_first - (f.run).first_file) / (f.run).files
                                 when (f.run).cuts is null
                                 then greatest((p_first - (f.run).first_file) * (f.run).file_events
                                               - (f.run).first_event, 0) / (f.run).events
                                 else greatest((p_first - (f.run).first_file) * (f.run).cuts
                                               - (f.run).first_event / (f.run).events, 0) end,
           1 + (l.run).number
           + least((l.run).jobs - 1,
                   case when (l.run).file_events is null then (p_last - (l.run).first_file) / (l.run).files
                        when (l.run).cuts is null
                        then ((p_last - (l.run).first_file) * (l.run).file_events - (l.run).first_event
                              + case when p_begun then 0 else (l.run).file_events - 1 end) / (l.run).events
                        else (p_last - (l.run).first_file) * (l.run).cuts - (l.run).first_event / (l.run).events
                             + case when p_begun then 0 else (l.run).cuts - 1 end end))
    from (select i
            from workload.input_run i
           where i.setup = p_setup and i.task_id = p_task_id and not i.by_output
             and (i.first_file, i.first_event) <= (p_first, 0)
           order by i.first_file desc, i.first_event desc
           limit 1) f(run)
   cross join lateral (
         select i
           from workload.input_run i
          where i.setup = p_setup and i.task_id = p_task_id and not i.by_output
            and (i.first_file, i.first_event) <= (p_last, case when p_begun then 0 else 1000000000000000 end)
          order by i.first_file desc, i.first_event desc
          limit 1) l(run)
$$;

comment on function workload.parts_of_files(text, bigint, bigint, bigint, boolean) is
  'The numbers of the jobs of a task that read some of the primary files p_first to p_last (places, from 1); with '
  'p_begun up to the job in which the last of them begins. Null = the input makes no jobs.';
