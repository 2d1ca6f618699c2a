-- What keeps a task from its queues: by rule how many queues it rejects, and how many it alone keeps away. The rule that opens the most queues comes first.
-- A set rule that holds is in the way of every queue that it would reject, also of those that fell before it: none of them is opened by another rule alone.
create or replace function brokerage.obstacles(p_setup text, p_task_id bigint, p_profile text default null, p_algorithm text default null)
returns table (rule text, rejects bigint, fails bigint, opens bigint, example text)
language sql stable
security definer set search_path = brokerage, pg_temp
as $$
  with queue as materialized (
    select e.queue, e.rule, e.all_reasons from brokerage.explain(p_setup, p_task_id, p_profile, p_algorithm) e where e.verdict = 'rejected'
  ), failing as (
    select q.queue, q.rule as first_rule, r.rule, r.said, count(*) over (partition by q.queue) = 1 as alone
      from queue q
     cross join lateral (select split_part(a.said, ': ', 1) as rule, substr(min(a.said), strpos(min(a.said), ': ') + 2) as said
                           from unnest(q.all_reasons) a(said) group by 1) r
  )
  select f.rule, count(*) filter (where f.first_rule = f.rule), count(*), count(*) filter (where f.alone),
         format('%s: %s', (array_agg(f.queue order by f.alone desc, f.queue collate "C"))[1], (array_agg(f.said order by f.alone desc, f.queue collate "C"))[1])
    from failing f
   group by f.rule
   order by 4 desc, 3 desc, 1
$$;

comment on function brokerage.obstacles(text, bigint, text, text) is
'What keeps a task from queues, a row a rule: how many queues it is the reason for, how many fail it, and how many would be open without it alone, with an example. Set rules count as they hold now; choices (top-10) are not named. Without p_algorithm by the rules of the broker that has the task. Errors: PB001, PB002, PB004 (no such task).';
