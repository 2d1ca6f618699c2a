-- The rule whose removal opens the most queues comes first. A set rule that holds blocks every queue that it would
-- reject, even a queue that an earlier rule rejected, so the removal of another single rule opens no such queue. A task
-- is decided once more (anal-loops) only if the first pass leaves it no queue. So a rule that alone keeps queues away
-- in the first pass opens these queues, and none of the second pass: without the rule there would be no second pass.
create or replace function brokerage.obstacles(
  p_setup text, p_task_id bigint, p_profile text default null, p_algorithm text default null
) returns table (rule text, rejects bigint, fails bigint, opens bigint, example text)
language sql stable security definer set search_path = brokerage, pg_temp as $$
  with explained as materialized (
    select e.queue, e.verdict, e.rule, e.all_reasons
      from brokerage.explain(p_setup, p_task_id, p_profile, p_algorithm) e
     where e.verdict in ('rejected', 'second pass')
  ), queue as materialized (
    select 'last' as pass, e.queue, e.rule, e.all_reasons from explained e where e.queue is not null
    union all
    select 'first', f.queue, f.rule, f.all_reasons
      from explained e
     cross join lateral brokerage.explained_first_pass(
       p_setup, p_task_id, p_profile, coalesce(p_algorithm, brokerage.algorithm_of(p_setup, p_task_id))) f
     where e.verdict = 'second pass' and f.verdict = 'rejected'
  ), failing as (
    select q.pass, q.queue, q.rule as first_rule, r.rule, r.said,
           count(*) over (partition by q.pass, q.queue) = 1 as alone
      from queue q
     cross join lateral (select split_part(a.said, ': ', 1) as rule,
                                substr(min(a.said), strpos(min(a.said), ': ') + 2) as said
                           from unnest(q.all_reasons) a(said) group by 1) r
  ), obstacle as materialized (
    select f.pass, f.rule, count(*) filter (where f.first_rule = f.rule) as rejects, count(*) as fails,
           count(*) filter (where f.alone) as opens,
           format('%s: %s', (array_agg(f.queue order by f.alone desc, f.queue collate "C"))[1],
                  (array_agg(f.said order by f.alone desc, f.queue collate "C"))[1]) as example
      from failing f
     group by f.pass, f.rule
  )
  select l.rule, l.rejects, l.fails, coalesce(f.opens, l.opens), coalesce(f.example, l.example)
    from obstacle l
    left join obstacle f on f.pass = 'first' and f.rule = l.rule and f.opens > 0
   where l.pass = 'last'
   order by 4 desc, 3 desc, 1
$$;

comment on function brokerage.obstacles(text, bigint, text, text) is
  'The rules that keep a task from queues, one row per rule: the number of queues for which the rule is the reason '
  '(rejects), of queues that fail it (fails), and of queues that would be open without this rule alone (opens), with '
  'an example. Set rules count as they hold now; choices (top-10) are not named. For a task that is decided once more, '
  'without locality, rejects and fails are those of that pass, and opens counts queues of the pass that would decide '
  'without the rule: the first, if the rule alone keeps queues away there, else the second. Without p_algorithm the '
  'rules are those of the broker that has the task. Errors: PB001, PB002, PB004 (no such task).';
