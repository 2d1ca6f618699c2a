-- DRAWING.md, Jobs of a TaskQueue: a job is drawn now, without the hand, which makes the hand void. If another
-- transaction has locked the drawn job, or the job avoids the host, the draw goes on (taskqueue.draw_unlocked_job).
create or replace function taskqueue.draw_job(
  p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint,
  p_hosts text[] default null, p_now timestamptz default null
) returns taskqueue.card
language plpgsql as $$
declare
  v_drawn record;
  v_job taskqueue.job;
begin
  -- plan: a job without the hand
  select l.total, d.entry_ids, d.addresses into v_drawn
    from (select array_agg(coalesce(n.jobs, 0) order by i.level) as jobs,
                 array_agg(n.first_id order by i.level) as first_ids, sum(n.jobs) as total
            from generate_series(0, 10) i (level)
            left join taskqueue.job_level(p_setup, p_task_queue_id) n on n.user_priority = i.level) l
   cross join lateral taskqueue.drawn_jobs(p_setup, p_task_queue_id, l.jobs, l.first_ids, '{}', 1, p_ten_first,
                                           p_policy, p_seed) d;
  -- plan: the delete of a job without the hand
  delete from taskqueue.job j
   where j.setup = p_setup
     and j.ctid = (select i.ctid from taskqueue.job i
                    where i.setup = p_setup and i.ctid = v_drawn.addresses[1] and i.entry_id = v_drawn.entry_ids[1]
                      and taskqueue.avoids(i.avoid, i.avoid_until, p_hosts, p_now) is not true
                      for update skip locked)
  returning j.* into v_job;
  if not found and v_drawn.total > 0 then
    v_job := taskqueue.draw_unlocked_job(p_setup, p_task_queue_id, p_ten_first, p_policy, p_seed, p_hosts, p_now);
  end if;
  if v_job.job_id is not null then
    -- plan: the change of the count
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, entry_id)
    values (p_setup, p_task_queue_id, v_job.user_priority, -1, v_job.entry_id);
  end if;
  if v_drawn.total <= 1 then
    perform taskqueue.drop_task_queue_if_empty(p_setup, p_task_queue_id);
  end if;
  return row(v_job.job_id, v_job.user_priority, v_job.attempts + 1, v_job.losses, v_job.failures, v_job.last_token,
             v_job.avoid, v_job.avoid_until, v_job.brokered, v_job.entry_id, null, null, null, null, null, null, null,
             null, null, null)::taskqueue.card;
end $$;

comment on function taskqueue.draw_job(text, bigint, boolean, text, bigint, text[], timestamptz) is
  'Takes a job of a TaskQueue out of waiting: the first job in drawn order that is not locked and does not avoid one '
  'of p_hosts at p_now. Null if there is none.';
