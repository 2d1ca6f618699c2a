-- DRAWING.md, Order statistics: the user priorities of a TaskQueue in the order in which they are tried, by one draw
-- per user priority instead of one per job: 4 us against 18.5 ms at 300,000 jobs. User priority 0 is a class after
-- all others, and 10 with ten_first is one before them.
create or replace function taskqueue.user_priority_order(
  p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text
) returns table (user_priority smallint, jobs bigint, changes bigint, first_id bigint)
language sql stable rows 3 as $$
  select n.user_priority, n.jobs, n.changes, n.first_id
    from (select l.*, resource.draw(l.user_priority, p_seed) as draw, greatest(l.jobs, 1)::float8 as count,
                 greatest(l.user_priority, 1)::float8 as weight
            -- a fence, else taskqueue.draw_key is not inlined
            from taskqueue.job_level(p_setup, p_task_queue_id) l offset 0) n
   order by case when n.jobs <= 0 then 3
                 when n.user_priority = 0 then 2
                 when n.user_priority = 10 and p_ten_first then 0
                 else 1 end,
            taskqueue.draw_key(n.draw, n.count, n.weight, p_policy)
$$;

comment on function taskqueue.user_priority_order(text, bigint, bigint, boolean, text) is
  'User priorities of a TaskQueue in drawn order, with the jobs counted there and how many changes of counts are not '
  'folded; user priorities without counted jobs come last.';
