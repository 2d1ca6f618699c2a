-- MATCHING.md, Insertion: puts jobs with the same requirements into TaskQueues. The order of the steps makes it safe:
-- 1. the rows are inserted; the primary key waits for a transaction that moves the same id; 2. ids that already waited
-- are moved; 3. leases and ended rows are read last, when no other transaction can change these ids.
create or replace function taskqueue.place_jobs(
  p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities int[],
  p_identity resource.identity default null, out task_queue_id bigint, out made bigint[],
  out ended taskqueue.ended[]
)
language plpgsql as $$
declare
  v_setting taskqueue.setting;
  v_definition_id bigint;
  v_space bigint;
  v_from int := 1;
  v_to int;
begin
  made := '{}'::bigint[];
  select s.* into strict v_setting from taskqueue.setting s where s.setup = p_setup;
  v_definition_id := taskqueue.definition_of(p_setup, p_requirements);
  while v_from <= cardinality(p_job_ids) loop
    select r.task_queue_id, r.space
      into place_jobs.task_queue_id, v_space
      from taskqueue.task_queues_with_space(p_setup, array[v_definition_id], v_setting.queue_size) r;
    if task_queue_id is null then
      -- One transaction at a time opens a TaskQueue of a definition, so that jobs which arrive together share one. This
      -- is a row lock, and a transaction may hold any number of these. An agent that gives a job back does not wait: if
      -- another transaction is opening a TaskQueue, the agent opens a second one.
      if p_identity.setup is not null then
        perform from taskqueue.definition d
          where d.setup = p_setup and d.definition_id = v_definition_id for no key update;
      else
        perform from taskqueue.definition d
          where d.setup = p_setup and d.definition_id = v_definition_id for no key update skip locked;
      end if;
      select r.task_queue_id, r.space
        into place_jobs.task_queue_id, v_space
        from taskqueue.task_queues_with_space(p_setup, array[v_definition_id], v_setting.queue_size) r;
    end if;
    if task_queue_id is null then
      v_space := v_setting.queue_size;
      task_queue_id := taskqueue.make_task_queue(p_setup, v_definition_id, (
        select avg(taskqueue.weight(p, v_setting.ten_first))
          from unnest(p_user_priorities[v_from:v_from - 1 + least(v_setting.queue_size, cardinality(p_job_ids))]) p));
      made := made || task_queue_id;
    end if;
    v_to := least(v_from + v_space - 1, cardinality(p_job_ids));
    perform taskqueue.fill_task_queues(p_setup, array_fill(task_queue_id, array[v_to - v_from + 1]),
                                       p_job_ids[v_from:v_to], p_user_priorities[v_from:v_to], p_identity);
    v_from := v_to + 1;
  end loop;
  ended := taskqueue.refuse_leased_ids(p_setup, p_job_ids, p_identity);
end $$;

comment on function taskqueue.place_jobs(text, jsonb, bigint[], int[], resource.identity) is
  'Puts jobs with the same canonical requirements into the newest TaskQueue with space, opening TaskQueues as needed. '
  'Returns the TaskQueue of the last job, the TaskQueues made, for taskqueue.open_task_queues, and the rows of jobs '
  'that had ended. Errors: PB002 (a private submitter would move the job of another owner, or start it '
  'again), PB005 (leased).';
