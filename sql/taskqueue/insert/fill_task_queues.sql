-- MATCHING.md, Insertion: puts jobs into TaskQueues that the caller has locked against deletion. Jobs that already wait
-- are moved, whatever their TaskQueue; only an operator's hold stays. Ids are locked in their order, so that two
-- callers with the same ids do not deadlock. TaskQueues that jobs left are removed last, since others may enter them.
-- Jobs of brokerage are known by their id; a submitter (p_identity) may not insert one that has not ended.
create or replace function taskqueue.fill_task_queues(
  p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities int[],
  p_identity resource.identity default null
) returns void
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_submitted boolean := p_identity.setup is not null;
  v_brokered boolean := exists (select from workload.job j where j.setup = p_setup);
  v_live bigint;
  v_todo bigint[];
  v_left bigint[];
  v_all_left bigint[] := '{}'::bigint[];
begin
  if v_brokered and v_submitted then
    select min(w.job_id)
      into v_live
      from workload.job w
     where w.setup = p_setup and w.job_id = any (p_job_ids) and workload.is_end(w.status) is not true;
    if v_live is not null then
      raise exception 'job % belongs to brokerage, which puts it into its TaskQueue', v_live
        using errcode = 'PB005', hint = 'See monitor.brokered_job. Insert your job under another id.';
    end if;
  end if;
  loop
    with inserted as (
      insert into taskqueue.job (setup, job_id, task_queue_id, user_priority, inserted_at, brokered)
      select p_setup, n.job_id, n.task_queue_id, n.user_priority, v_now,
             case when v_brokered and not v_submitted
                  then exists (select from workload.job w
                                where w.setup = p_setup and w.job_id = n.job_id and w.status = 'activated')
                  else false end
        from unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority)
       where v_todo is null or n.job_id = any (v_todo)
       order by n.job_id
      on conflict (setup, job_id) do nothing
      returning task_queue_id, job_id, user_priority
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, i.task_queue_id, i.user_priority, count(*), min(i.job_id)
        from inserted i
       group by i.task_queue_id, i.user_priority
    )
    select array(select unnest(coalesce(v_todo, p_job_ids)) except select i.job_id from inserted i) into v_todo;
    exit when v_todo = '{}';
    with waiting as (
      select j.job_id, j.task_queue_id, j.user_priority, j.held, j.entry_id from taskqueue.job j
       where j.setup = p_setup and j.job_id = any (v_todo) order by j.job_id for update
    ), moved as (
      update taskqueue.job j
         set task_queue_id = n.task_queue_id, user_priority = n.user_priority, entry_id = nextval('taskqueue.entry_id'),
             held = j.held and j.not_before is null, not_before = null, losses = 0, failures = 0, last_token = null,
             avoid = null, avoid_until = null
        from waiting w
        join unnest(p_task_queue_ids, p_job_ids,
                    p_user_priorities) n (task_queue_id, job_id, user_priority) using (job_id)
       where j.setup = p_setup and j.job_id = w.job_id
      returning j.job_id, w.task_queue_id as old_task_queue_id, w.user_priority as old_priority, j.task_queue_id,
                j.user_priority, j.held, w.held as was_held, w.entry_id as old_entry_id
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id, entry_id)
      select p_setup, m.old_task_queue_id, m.old_priority, -1, null::bigint, m.old_entry_id
        from moved m
       where not m.was_held
      union all
      select p_setup, m.task_queue_id, m.user_priority, count(*), min(m.job_id), null
        from moved m
       where not m.held
       group by m.task_queue_id, m.user_priority
    )
    select array_agg(distinct m.old_task_queue_id), array(select unnest(v_todo) except select m.job_id from moved m)
      into v_left, v_todo from moved m;
    if p_identity.private then  -- the rows are already locked and moved, so the owners read here are final
      perform taskqueue.may_submit(p_identity, d.requirements)
         from taskqueue.task_queue q
         join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
        where q.setup = p_setup and q.task_queue_id = any (v_left);
    end if;
    v_all_left := v_all_left || v_left;
  end loop;
  perform taskqueue.drop_task_queue_if_empty(p_setup, i) from unnest(v_all_left) i;
end $$;

comment on function taskqueue.fill_task_queues(text, bigint[], bigint[], int[], resource.identity) is
  'Inserts jobs into the TaskQueue named for each of them, or moves jobs that already wait, and keeps the counts. '
  'Errors: PB002 (a private submitter would move the job of another owner), PB005 (a submitter gives the id of a '
  'brokered job that has not ended).';
