create or replace function workload.part_of_task(p_setup text, p_task_id bigint, p_number bigint)
returns setof workload.part
language sql stable rows 1 as $$
  select p_number, p.first_file, p.last_file, p.first_event, p.events
    from (select i
            from workload.input_run i
           where i.setup = p_setup and i.task_id = p_task_id and not i.by_output and i.number <= p_number
           order by i.number desc
           limit 1) r(run)
   cross join lateral workload.part_of_run(r.run, p_number) p
   where p_number >= 1 and p_number < (r.run).number + (r.run).jobs
$$;

comment on function workload.part_of_task(text, bigint, bigint) is
  'The primary files and the events of a job, by its number in the task; no row if the input makes no such job.';
