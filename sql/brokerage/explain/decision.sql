-- Decisions of runs, a row a task and queue, from the arrays in which they are stored.
create or replace view brokerage.decision as
select d.setup, d.run_id, d.task_id, q.queue, d.decided_at, q.verdict, q.rank, q.weight, q.factors, q.queued,
       q.capacity, q.chunk, q.rule, q.reason
  from brokerage.verdict d
 cross join lateral unnest(d.queues) q;

comment on view brokerage.decision is
  'The decision of a run about a queue: one row a task and queue. monitor.decision is for people.';
comment on column brokerage.decision.setup is 'Tenant.';
comment on column brokerage.decision.run_id is 'Run.';
comment on column brokerage.decision.task_id is 'Task.';
comment on column brokerage.decision.queue is 'Queue, or pseudo-queue of a unified one.';
comment on column brokerage.decision.decided_at is 'When (resource.clock).';
comment on column brokerage.decision.verdict is 'c: candidate, r: rejected, n: never entered the list.';
comment on column brokerage.decision.rank is 'Place of a candidate, from 1.';
comment on column brokerage.decision.weight is 'Weight; null = rejected before the weights.';
comment on column brokerage.decision.factors is 'The weight''s factors, in the order of the weights of the profile.';
comment on column brokerage.decision.queued is
  'Candidates: jobs queued there, as they count when jobs are distributed.';
comment on column brokerage.decision.capacity is 'Candidates: how many jobs may be queued there; null = no limit.';
comment on column brokerage.decision.chunk is 'Candidates: jobs that one choice takes.';
comment on column brokerage.decision.rule is 'Rule that rejected it.';
comment on column brokerage.decision.reason is
  'Why, with the numbers compared; may begin with a criteria tag of its own and a colon.';
