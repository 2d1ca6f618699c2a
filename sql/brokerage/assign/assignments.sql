create or replace view brokerage.assignments as
select a.setup, a.run_id, a.queue, count(*) as tasks, sum(a.jobs)::bigint as jobs
  from brokerage.assignment a
 where (a.setup = (select resource.bound_setup())) is not false
 group by a.setup, a.run_id, a.queue;

comment on view brokerage.assignments is 'Jobs that each run assigned, by queue.';
comment on column brokerage.assignments.tasks is 'Number of tasks whose jobs the queue gets.';
