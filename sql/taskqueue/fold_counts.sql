-- Moves the changes of a queue into its base, in one statement. Whoever finds the queue's changes being folded leaves them: nobody waits.
create or replace function taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) returns bigint
language plpgsql
as $$
declare
  v_folded bigint;
begin
  if not taskqueue.lock_counts(p_setup, p_task_queue_id) then
    return 0;
  end if;
  with gone as (
    delete from taskqueue.job_count_change c
     where c.ctid = any (array(select i.ctid from taskqueue.job_count_change i
                                where i.setup = p_setup and i.task_queue_id = p_task_queue_id for update skip locked))
    returning c.user_priority, c.change
  ), folded as (
    insert into taskqueue.job_count as b (setup, task_queue_id, user_priority, jobs)
    select p_setup, p_task_queue_id, g.user_priority, sum(g.change) from gone g group by g.user_priority order by g.user_priority
    on conflict (setup, task_queue_id, user_priority) do update set jobs = b.jobs + excluded.jobs
  )
  select count(*) into v_folded from gone;
  return v_folded;
end $$;

comment on function taskqueue.fold_counts(text, bigint) is
'Folds the changes of a queue''s counts into job_count; returns how many. The counts read the same before and after.';
