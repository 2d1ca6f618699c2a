-- Decisions are read from the arrays in which they are stored. The names of queues are unpacked once per task (offset
-- 0) instead of once per queue. They are unpacked into JSON, where an element is found without reading all texts before
-- it.
create or replace view brokerage.decision as
select d.setup, d.run_id, d.task_id, q.queue, d.decided_at, q.verdict, q.rank, q.weight, q.factors, q.queued,
       q.capacity, q.chunk, q.rule, q.reason
  from brokerage.verdict d
 cross join lateral unnest(d.queues) q
union all
select d.setup, d.run_id, d.task_id, p.queues ->> l.number - 1, d.decided_at,
       case when l.reason like '!%' then 'n' else 'r' end::"char", null, null, null, null, null, null,
       ltrim(split_part(l.reason, E'\t', 1), '!'), split_part(l.reason, E'\t', 2)
  from brokerage.verdict d
  join brokerage.part k on k.setup = d.setup and k.run_id = d.run_id and k.part = d.part
 cross join lateral (select to_jsonb(k.queues) as queues offset 0) p
 cross join lateral unnest(d.lost, d.reasons) l(number, reason);

comment on view brokerage.decision is
  'The decision of a run about a queue: one row per task and queue. monitor.verdict shows the same to people.';
