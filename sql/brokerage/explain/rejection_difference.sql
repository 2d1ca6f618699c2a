-- A what-if compares the rejections of each rule before and after a change. Nested loops are off: see
-- brokerage.run_difference.
create or replace function brokerage.rejection_difference(p_setup text, p_before bigint, p_after bigint)
returns table (rule text, before bigint, after bigint, gained bigint, lost bigint, example text)
language plpgsql stable security definer set search_path = brokerage, pg_temp set enable_nestloop = off
set enable_sort = off set work_mem = '64MB' as $$
#variable_conflict use_column
begin
  perform resource.identify_viewer(p_setup);
  perform brokerage.require_runs(p_setup, array[p_before, p_after]);
  return query
  with queue as materialized (  -- taking an element of the stored array for each pair would read the array each time
    select p.run_id, p.part, u.queue, u.number
      from brokerage.part p
     cross join lateral unnest(p.queues) with ordinality u(queue, number)
     where p.setup = p_setup and p.run_id in (p_before, p_after)
  ), lost as materialized (  -- before the join with the queues, which would multiply the arrays
    select d.run_id, d.task_id, d.part, u.number, u.reason
      from brokerage.verdict d
     cross join lateral unnest(d.lost, d.reasons) u(number, reason)
     where d.setup = p_setup and d.run_id in (p_before, p_after) and u.reason not like '!%'
  ), rejection as materialized (
    select l.run_id, l.task_id, q.queue collate "C" as queue, split_part(l.reason, E'\t', 1) collate "C" as rule,
           split_part(l.reason, E'\t', 2) as reason
      from lost l
      join queue q on q.run_id = l.run_id and q.part = l.part and q.number = l.number
    union all
    select d.run_id, d.task_id, q.queue, q.rule, q.reason
      from brokerage.verdict d
     cross join lateral unnest(d.queues) q
     where d.setup = p_setup and d.run_id in (p_before, p_after) and q.verdict = 'r'
    union all
    select t.run_id, t.task_id, null, t.rule, t.reason
      from brokerage.task_decision t
     where t.setup = p_setup and t.run_id in (p_before, p_after) and t.rule is not null
  ), of_task as (  -- grouped by pair, then task, then rule, so that an example is searched among few rows
    select p.rule, p.task_id, count(*) filter (where p.was) as before, count(*) filter (where p.is) as after,
           count(*) filter (where p.is and not p.was) as gained, count(*) filter (where p.was and not p.is) as lost,
           min(p.queue) filter (where p.is and not p.was) as gained_queue, min(p.queue) filter (where p.is) as queue
      from (select r.rule, r.task_id, r.queue, bool_or(r.run_id = p_before) as was, bool_or(r.run_id = p_after) as is
              from rejection r
             group by r.rule, r.task_id, r.queue) p
     group by p.rule, p.task_id
  ), of_rule as (
    select t.rule, sum(t.before)::bigint as before, sum(t.after)::bigint as after, sum(t.gained)::bigint as gained,
           sum(t.lost)::bigint as lost,
           (array_agg(t.task_id order by t.gained = 0, t.task_id) filter (where t.after > 0))[1] as task_id,
           (array_agg(coalesce(t.gained_queue, t.queue) order by t.gained = 0, t.task_id)
              filter (where t.after > 0))[1] as queue
      from of_task t
     group by t.rule
  )
  select o.rule, o.before, o.after, o.gained, o.lost,
         max(concat_ws(' ', 'task', o.task_id, 'at ' || o.queue) || ': ' || r.reason)
    from of_rule o
    left join rejection r on r.run_id = p_after and r.rule = o.rule and r.task_id = o.task_id
                             and r.queue is not distinct from o.queue
   group by o.rule, o.before, o.after, o.gained, o.lost
   order by o.after desc, o.before desc, o.rule;
end $$;

comment on function brokerage.rejection_difference(text, bigint, bigint) is
  'Rules of two runs: the numbers of pairs of task and queue that each rule rejects before and after (a whole task is '
  'one pair), the numbers of pairs gained and lost, and an example from the second run with its numbers, preferably a '
  'gained pair. Errors: PB001, PB002, PB004 (no such run).';
