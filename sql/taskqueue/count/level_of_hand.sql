-- HANDS.md, Exact counts. Inlined.
create or replace function taskqueue.level_of_hand(p_hand taskqueue.hand, p_gone smallint[])
returns table (user_priority smallint, jobs bigint, first_id bigint)
language sql stable rows 3 as $$
  select n.user_priority, sum(n.jobs)::bigint, min(n.first_id)
    from (select (l.number - 1)::smallint as user_priority, l.jobs, l.first_id
            from unnest((p_hand).jobs, (p_hand).first_ids) with ordinality l (jobs, first_id, number)
           where l.jobs <> 0
          union all
          select g, -1, null from unnest(p_gone) g
          union all
          select c.user_priority, c.change, c.first_id
            from taskqueue.new_changes((p_hand).setup, (p_hand).task_queue_id, (p_hand).known_to,
                                       (p_hand).in_flight) c
           where (c.entry_id = any ((p_hand).entry_ids)) is not true) n
   group by n.user_priority
$$;

comment on function taskqueue.level_of_hand(taskqueue.hand, smallint[]) is
  'The rows of taskqueue.job_level, computed from the newest hand of a TaskQueue and the user priorities of those jobs '
  'of the hand that have gone (one for each job).';
