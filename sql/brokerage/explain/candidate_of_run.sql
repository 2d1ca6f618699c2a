-- Unlike brokerage.decision, the view reads the candidates without unpacking the rejected queues.
create or replace view brokerage.candidate_of_run as
select d.setup, d.run_id, d.task_id, q.queue, q.rank, q.weight, q.queued, q.capacity, q.chunk
  from brokerage.verdict d
 cross join lateral unnest(d.queues) q
 where q.verdict = 'c';

comment on view brokerage.candidate_of_run is 'Candidates of tasks in runs, in the form of brokerage.decision.';
