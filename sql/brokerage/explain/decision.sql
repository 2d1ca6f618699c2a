-- Decisions of runs, a row a task and queue, from the arrays in which they are stored.
create or replace view brokerage.decision as
select d.setup, d.run_id, d.task_id, q.queue, d.decided_at, q.verdict, q.rank, q.weight, q.factors, q.queued,
       q.capacity, q.chunk, q.rule, q.reason
  from brokerage.verdict d
 cross join lateral unnest(d.queues) q;

comment on view brokerage.decision is
  'The decision of a run about a queue: one row a task and queue. monitor.decision is for people.';
