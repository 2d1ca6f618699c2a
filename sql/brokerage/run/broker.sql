-- The procedure commits as it goes, so that decisions stay if it is interrupted, other sessions see its assignments,
-- and locks are short. It has no rights of its own, since a procedure that commits cannot be SECURITY DEFINER.
create or replace procedure brokerage.broker(
  p_setup text, p_algorithm text, p_task_ids bigint[], p_profile text, p_seed bigint, p_dry_run boolean, p_limit bigint,
  p_tasks_a_commit int, inout p_run_id bigint
)
language plpgsql as $$
declare
  v_done bigint;
  v_left bigint := p_limit;
  v_said text;
begin
  if p_tasks_a_commit < 1 then
    raise exception 'p_tasks_a_commit is %', p_tasks_a_commit
      using errcode = 'PB001',
            hint = 'Give the number of tasks decided between two commits, at least 1, or null for no commit.';
  end if;
  if p_limit < 0 then
    raise exception 'p_limit is %', p_limit
      using errcode = 'PB001', hint = 'Give the highest number of tasks to decide, or null for all that are due.';
  end if;
  p_run_id := brokerage.open_run(p_setup, p_algorithm, p_profile, p_seed, p_dry_run);
  if p_task_ids is not null then
    perform brokerage.require_tasks(p_setup, p_task_ids, case when p_dry_run is not true then p_algorithm end);
    select string_agg(format('task %s: %s', s.task_id, s.not_due), '; ' order by s.task_id) into v_said
      from (select t.task_id, t.not_due from brokerage.task_due_state t
             where t.setup = p_setup and t.algorithm = p_algorithm and t.task_id = any (p_task_ids)
               and t.not_due is not null
             order by 1
             limit 5) s;
    if v_said is not null then
      raise notice 'not due, decided because they are listed: %', v_said;
    end if;
  end if;
  loop
    v_done := brokerage.broker_next(p_setup, p_run_id, p_task_ids, least(v_left, p_tasks_a_commit));
    v_left := v_left - v_done;
    if p_tasks_a_commit is not null then
      commit;
    end if;
    exit when v_done = 0 or v_left <= 0 or p_tasks_a_commit is null;
  end loop;
  perform brokerage.close_run(p_setup, p_run_id);
end $$;

comment on procedure brokerage.broker(text, text, bigint[], text, bigint, boolean, bigint, int, bigint) is
  'Brokers tasks by an algorithm; brokerage.broker_tasks, broker_jobs and broker_analysis call this procedure. '
  'Errors: PB001, PB002, PB004, PB005.';
