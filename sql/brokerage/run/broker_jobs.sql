-- The operator's call for a batch. A procedure, so that it commits as it goes: what it decided stays decided when it is cut off, others see its
-- assignments, and locks are short. Nothing here needs rights of its own (a procedure that commits cannot be SECURITY DEFINER).
create or replace procedure brokerage.broker_jobs(p_setup text, p_tasks bigint[] default null, p_profile text default null, p_seed bigint default null,
                                                  p_dry_run boolean default false, p_limit bigint default null, p_tasks_a_commit int default 250,
                                                  inout p_run_id bigint default null)
language plpgsql
as $$
declare
  v_done bigint;
  v_left bigint := p_limit;
  v_said text;
begin
  if p_tasks_a_commit < 1 then
    raise exception 'p_tasks_a_commit is %', p_tasks_a_commit
      using errcode = 'PB001', hint = 'Tasks decided between two commits, at least 1; null = no commit, for a transaction of your own.';
  end if;
  if p_limit < 0 then
    raise exception 'p_limit is %', p_limit using errcode = 'PB001', hint = 'Tasks to decide at most; null = all that are due.';
  end if;
  p_run_id := brokerage.open_run(p_setup, 'production_job', p_profile, p_seed, p_dry_run);
  if p_tasks is not null then
    perform brokerage.require_tasks(p_setup, p_tasks);
    select string_agg(format('task %s: %s', s.task_id, s.not_due), '; ' order by s.task_id) into v_said
      from (select t.task_id, t.not_due from brokerage.task_standing t where t.setup = p_setup and t.task_id = any (p_tasks) and t.not_due is not null order by 1 limit 5) s;
    if v_said is not null then
      raise notice 'not due, decided because they are named: %', v_said;
    end if;
  end if;
  loop
    v_done := brokerage.broker_next(p_setup, p_run_id, p_tasks, least(v_left, p_tasks_a_commit));
    v_left := v_left - v_done;
    if p_tasks_a_commit is not null then
      commit;
    end if;
    exit when v_done = 0 or v_left <= 0 or p_tasks_a_commit is null;
  end loop;
  perform brokerage.close_run(p_setup, p_run_id);
end $$;

comment on procedure brokerage.broker_jobs(text, bigint[], text, bigint, boolean, bigint, int, bigint) is
'Brokers the jobs of all tasks that are due, or of those listed, highest current priority first: decides (brokerage.decision) and assigns jobs to queues (brokerage.assignment). p_seed makes draws repeatable, p_dry_run stores decisions only, p_limit is how many tasks at most. Commits after each p_tasks_a_commit tasks; null = never, then it may run in a transaction of the caller''s. Several calls at once share the work. p_run_id says under which run the decisions stand. A task that is listed is decided whether it is due or not; a notice says which are not. Within a transaction block, or from a function, PostgreSQL refuses to commit (invalid transaction termination, 2D000): give p_tasks_a_commit => null there. Errors: PB001 (no such setup or profile, an argument out of range, isolation level), PB002 (not an operator), PB004 (no such task).';
