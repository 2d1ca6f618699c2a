-- ARCHITECTURE.md, Hot rows: a count is a snapshot plus the changes since then. The snapshot is that of the hand. Jobs
-- of the hand are looked up, even if they have gone; changes count all other jobs. One statement reads all of this.
create or replace function taskqueue.job_level(p_setup text, p_task_queue_id bigint)
returns table (user_priority smallint, jobs bigint, first_id bigint)
language sql stable rows 3 as $$
  -- plan: jobs by user priority
  select n.user_priority, n.jobs, n.first_id
    from (select h.* from taskqueue.hand h
           where h.setup = p_setup and h.task_queue_id = p_task_queue_id
           order by h.hand_id desc limit 1) t
   cross join lateral (
          select array_agg(e.user_priority) as priorities
            from unnest(t.job_ids, t.entry_ids, t.user_priorities) e (job_id, entry_id, user_priority)
           where not exists (select from taskqueue.job j
                              where j.setup = p_setup and j.job_id = e.job_id and j.entry_id = e.entry_id)) g
   cross join lateral taskqueue.level_of_hand(t, g.priorities) n
$$;

comment on function taskqueue.job_level(text, bigint) is
  'Waiting jobs of a TaskQueue that are not held, by user priority, and an id below which there is no job.';
