-- DRAWING.md, Jobs of a TaskQueue: the user priority with the smallest key, and one of its first ten jobs by id. The
-- caller locks the job, and calls taskqueue.take_job where that fails.
create or replace function taskqueue.pick_job(
  p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint
) returns table (job_id bigint, user_priority smallint, jobs bigint)
language sql stable rows 1 as $$
  select f.job_id, o.user_priority, o.jobs
    from (select u.user_priority, u.jobs, u.first_id
            from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u limit 1) o
   cross join lateral (
         select i.job_id from taskqueue.job i
          where i.setup = p_setup and i.task_queue_id = p_task_queue_id and not i.held
            and i.user_priority = o.user_priority
            and i.job_id >= coalesce(o.first_id, 0)
          order by i.job_id offset floor(resource.draw(o.user_priority, p_seed # 1) * least(o.jobs, 10)) limit 1) f
$$;

comment on function taskqueue.pick_job(text, bigint, boolean, text, bigint) is
  'The job of a TaskQueue that the draws select, its user priority, and how many jobs that has. No row: the TaskQueue '
  'is empty, or the counts are wrong.';
