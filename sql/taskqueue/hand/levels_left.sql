-- HANDS.md, Exact counts. Inlined.
create or replace function taskqueue.levels_left(p_hand taskqueue.hand, p_gone smallint[], p_kept smallint[])
returns table (jobs bigint[], left_jobs bigint[], first_ids bigint[], total numeric)
language sql stable rows 1 as $$
  select array_agg(coalesce(n.jobs, 0) order by i.level),
         array_agg(coalesce(n.jobs, 0) - cardinality(array_positions(p_kept, i.level::smallint)) order by i.level),
         array_agg(f.job_id order by i.level), coalesce(sum(n.jobs), 0)
    from generate_series(0, 10) i (level)
    left join taskqueue.level_of_hand(p_hand, p_gone) n on n.user_priority = i.level
    left join lateral (select j.job_id from taskqueue.job j
                        where j.setup = (p_hand).setup and j.task_queue_id = (p_hand).task_queue_id and not j.held
                          and j.user_priority = i.level and j.job_id >= coalesce(n.first_id, 0) and n.jobs > 0
                        order by j.job_id limit 1) f on true
$$;

comment on function taskqueue.levels_left(taskqueue.hand, smallint[], smallint[]) is
  'Numbers of the waiting jobs of the TaskQueue of a hand by user priority 0 to 10, and the first id of each user '
  'priority. left_jobs: the same numbers without the jobs that the next hand keeps (p_kept has their user priorities). '
  'p_gone: user priorities of the jobs of the hand that have gone.';
