-- resource.keep_partitions calls the function before it drops the partition of the day.
create or replace function brokerage.count_decisions(p_day timestamptz) returns void
language sql as $$
  insert into brokerage.rejection_count as c (setup, run_id, rule, queue, tasks)
  select d.setup, d.run_id, d.rule, d.queue, count(*)
    from brokerage.decision d
   where d.verdict = 'r' and d.decided_at >= p_day and d.decided_at < p_day + interval '24 hours'
   group by d.setup, d.run_id, d.rule, d.queue
  on conflict (setup, run_id, rule, queue) do update set tasks = c.tasks + excluded.tasks
$$;

comment on function brokerage.count_decisions(timestamptz) is
  'Adds the rejections of a day (from its begin, UTC) to the counts by rule and queue that are kept.';
