-- The run of a large grid rejects a million pairs, and reading all of them takes seconds. The view reads the rejections
-- of a sufficient number of tasks, in an arbitrary order, and scales the counts to all rejections, whose number
-- task_decision has. Reasons with the same tags are split only once: brokerage.split_reason takes 10 us.
create or replace view monitor.run_rejection as
select r.setup, r.run_id, r.algorithm, c.rule, c.criteria, c.pairs, c.estimated
  from brokerage.run r
 cross join lateral (
   select d.rule, (brokerage.split_reason(min(d.reason))).criteria, (count(*) * t.total / t.seen)::bigint as pairs,
          t.seen < t.total as estimated
     from (select array_agg(k.task_id) as task_ids, sum(k.rejected) as seen, k.total
             from (select i.task_id, i.rejected, sum(i.rejected) over () as total,
                          sum(i.rejected) over (order by hashint8(i.task_id), i.task_id) - i.rejected as before
                     from brokerage.task_decision i
                    where i.setup = r.setup and i.run_id = r.run_id and i.rejected > 0) k
            where k.before < 20000
            group by k.total) t
    cross join lateral unnest(t.task_ids) s (task_id)
    cross join lateral (  -- offset: one task at a time, by its index
      select i.rule, i.reason from brokerage.decision i
       where i.setup = r.setup and i.run_id = r.run_id and i.task_id = s.task_id and i.verdict = 'r' offset 0) d
    group by d.rule, split_part(d.reason, ': ', 1),
             case when split_part(d.reason, ': ', 2) ~ '^[-+]' then split_part(d.reason, ': ', 2) end,
             t.total, t.seen) c
 where (r.setup = (select resource.bound_setup())) is not false;

comment on view monitor.run_rejection is
  'Rejections of each run by rule and criteria tag, for as long as decisions are kept. Restrict the run. If there are '
  'more than 20,000 rejections, those of some tasks are counted and scaled; brokerage.rejections counts all.';
comment on column monitor.run_rejection.rule is 'Rule that rejected.';
comment on column monitor.run_rejection.criteria is 'PanDA''s criteria tag of the rejections; null = none.';
comment on column monitor.run_rejection.pairs is 'Pairs of task and queue that were rejected.';
comment on column monitor.run_rejection.estimated is 'Whether the number is estimated from some of the tasks.';
