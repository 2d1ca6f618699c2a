-- The function decides tasks from facts alone: it reads no table and stores nothing, so that brokerage.replay can call
-- it as well. Tasks that a task rule refuses are answered first. A task that the rule of kind second pass selects gets
-- no answer in the first pass; it is decided once more, and the answer names the second pass. Arms of a trial see each
-- other's assignments.
create or replace function brokerage.judge(
  p_run brokerage.run, p_arms brokerage.arm[], p_subjects brokerage.facts_by_subject,
  p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns setof brokerage.task_answer
language plpgsql volatile as $$
declare
  v_in_turn boolean := not p_run.dry
                       and (p_run.algorithm = 'production_task'
                            or exists (select from unnest(p_arms) a
                                        where brokerage.sees_assignments(a.rules, p_run.algorithm)));
  v_arm brokerage.arm;
  v_waits jsonb := '{}'::jsonb;  -- by arm: parameters of the rule of kind pending
  v_seconds jsonb := '{}'::jsonb;  -- by arm: the rule that asks for a second pass, and the note for its decisions
  v_name text;  -- the arm of a task; empty without a trial
  v_answer brokerage.task_answer;
  v_tasks brokerage.task_facts[] := p_tasks;
  v_left bigint[];  -- numbers of the tasks that the next pass decides
  v_pass int := 0;
  v_wide boolean;
begin
  v_left := array(select n from generate_subscripts(p_tasks, 1) n order by n);
  foreach v_arm in array p_arms loop
    v_name := coalesce(v_arm.arm, '');
    v_waits := v_waits || jsonb_build_object(v_name, coalesce((
      select r.parameters from unnest(v_arm.rules) r
       where r.algorithm = p_run.algorithm and r.kind = 'pending' and r.enabled
       limit 1), '{}'));
    v_seconds := v_seconds || jsonb_build_object(v_name, (
      select to_jsonb(s) from brokerage.second_pass(v_arm.rules, p_run.algorithm) s));
    for v_answer in
      select a.*
        from brokerage.refusals(v_arm.rules, p_run.algorithm, brokerage.tasks_at(p_tasks, v_arm.numbers)) a
    loop
      v_answer.number := v_arm.numbers[v_answer.number];
      v_left := array_remove(v_left, v_answer.number);
      if v_answer.status = 'pending' then
        v_answer.retry_at :=
          p_run.started_at + brokerage.wait_of(v_waits -> v_name, p_tasks[v_answer.number].current_priority);
      end if;
      return next v_answer;
    end loop;
  end loop;
  while cardinality(v_left) > 0 loop
    v_pass := v_pass + 1;
    if cardinality(v_left) < cardinality(v_tasks) then
      v_tasks := brokerage.tasks_at(v_tasks, v_left);
      p_arms := brokerage.arms_of_some(p_arms, v_left);
      p_subjects := brokerage.facts_of_some(p_subjects, v_left, cardinality(p_queues));
    end if;
    if v_pass > 1 then
      v_tasks := array(select brokerage.in_second_pass(f) from unnest(v_tasks) f);
    end if;
    v_left := '{}'::bigint[];
    v_wide := cardinality(v_tasks) * cardinality(p_queues) > 5000;
    for v_answer in
      select a.*
        from brokerage.answers_in_turn(p_run, p_arms, p_subjects, v_tasks, p_queues, v_wide) a
       where v_in_turn
      union all
      select a.*
        from brokerage.answers_together(p_run, p_arms, p_subjects, v_tasks, p_queues, v_wide) a
       where not v_in_turn
    loop
      if v_answer.status is null then
        v_left := v_left || v_answer.number;
        continue;
      end if;
      v_name := coalesce((v_tasks[v_answer.number]).arm, '');
      if v_answer.status = 'pending' then
        v_answer.retry_at :=
          p_run.started_at + brokerage.wait_of(v_waits -> v_name, v_tasks[v_answer.number].current_priority);
      elsif not p_run.dry and not v_in_turn then
        v_answer.given := (
          select brokerage.distributed(p_run, v_tasks[v_answer.number],
                                       array_agg(coalesce(q.weight, 1) order by q.rank),
                                       array_agg(coalesce(q.queued, 0) order by q.rank),
                                       array_agg(q.capacity order by q.rank),
                                       array_agg(coalesce(q.chunk, 25) order by q.rank))
            from unnest(v_answer.queues) q
           where q.verdict = 'c');
      end if;
      if v_pass > 1 then
        v_answer.rule := v_seconds -> v_name ->> 'rule';
        v_answer.reason := v_seconds -> v_name ->> 'reason';
      end if;
      return next v_answer;
    end loop;
    v_left := array(select n from unnest(v_left) n order by n);
  end loop;
end $$;

comment on function brokerage.judge(
  brokerage.run, brokerage.arm[], brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'The decisions of a run from given rules and facts: one answer per task, with the jobs that each candidate gets, or '
  'the nucleus. Errors: PB001, PB002 (a rule that does not fit), and errors that the values of a task raise.';
