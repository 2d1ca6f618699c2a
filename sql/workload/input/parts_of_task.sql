-- The runs between the lowest and the highest number are expanded and joined by hashing: a search of the run of each
-- number would take longer than all else that makes a job.
create or replace function workload.parts_of_task(p_setup text, p_task_id bigint, p_numbers bigint[])
returns table (at bigint, number bigint, first_file bigint, last_file bigint, first_event bigint, events bigint)
language sql stable as $$
  select o.at, o.number, p.first_file, p.last_file, p.first_event, p.events
    from (select min(n), max(n) from unnest(p_numbers) n) b(low, high)
   cross join lateral (
     select r
       from workload.input_run r
      where r.setup = p_setup and r.task_id = p_task_id and not r.by_output and r.number <= b.high
        and r.number >= coalesce((select max(f.number) from workload.input_run f
                                   where f.setup = p_setup and f.task_id = p_task_id and not f.by_output
                                     and f.number <= b.low), 0)) i(run)
   cross join lateral generate_series(greatest((i.run).number, b.low),
                                      least((i.run).number + (i.run).jobs - 1, b.high)) g(number)
    join unnest(p_numbers) with ordinality o(number, at) on o.number = g.number
   cross join lateral workload.part_of_run(i.run, g.number) p
$$;

comment on function workload.parts_of_task(text, bigint, bigint[]) is
  'The primary files and the events of jobs, by their numbers in the task: workload.part_of_task for each; at: place '
  'of the number, from 1.';
