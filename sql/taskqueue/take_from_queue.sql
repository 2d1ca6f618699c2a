-- Section 5, steps 3 and 4: a job of the queue that was drawn. The user priorities in drawn order, one draw each; of the first, one of the first
-- ten jobs. A queue that turns out empty goes.
create or replace function taskqueue.take_from_queue(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) returns taskqueue.job
language plpgsql
as $$
declare
  v_job taskqueue.job;
  v_levels smallint[];
  v_jobs bigint[];
  v_total bigint;
  v_unfolded bigint;
begin
  select array_agg(u.user_priority), array_agg(u.jobs), sum(u.jobs), sum(u.changes) into v_levels, v_jobs, v_total, v_unfolded
    from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u;
  for v_number in 1 .. coalesce(cardinality(v_levels), 0) loop
    v_job := taskqueue.take_job(p_setup, p_task_queue_id, v_levels[v_number], v_jobs[v_number], p_seed # 1);
    if v_job.job_id is not null then
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
      values (p_setup, p_task_queue_id, v_job.user_priority, -1);
      if v_unfolded >= 50 then
        perform taskqueue.fold_counts(p_setup, p_task_queue_id);
      end if;
      exit;
    end if;
  end loop;
  if coalesce(v_total, 0) <= 1 then
    perform taskqueue.drop_if_empty(p_setup, p_task_queue_id);
  end if;
  return v_job;
end $$;

comment on function taskqueue.take_from_queue(text, bigint, boolean, text, bigint) is
'Takes a job of a queue out of waiting, by the law of section 5; null when there is none that is not locked.';
