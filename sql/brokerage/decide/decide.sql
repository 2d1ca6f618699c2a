-- One query decides all tasks, and every decision is stored. If the query fails because of the values of a task, the
-- batch is halved until that task is alone: the task gets its error, and the others are decided. Errors with other
-- causes (locks, disk, a missing rule) end the call.
create or replace function brokerage.decide(
  p_run brokerage.run, p_rules brokerage.profile_rule[], p_task_ids bigint[], p_queues brokerage.queue_facts[]
) returns void
language plpgsql as $$
declare
  v_half int := cardinality(p_task_ids) / 2;
  v_error text;
  v_errcode text;
  v_rule text;
  v_arm text;
  v_rules brokerage.profile_rule[];
begin
  if cardinality(p_task_ids) = 0 then
    return;
  end if;
  begin
    perform brokerage.decide_together(p_run, p_rules, p_task_ids, p_queues);
    return;
  exception when data_exception or cardinality_violation or raise_exception then
    v_error := sqlerrm;
    v_errcode := sqlstate;
  end;
  if v_half = 0 then
    v_arm := brokerage.arm_of(p_run.setup, p_run.trial, p_task_ids[1]);
    v_rules := brokerage.rules_of_arm(p_rules, p_run.profile, v_arm);
    -- rules are tested once for each error of a run, since hundreds of tasks may have the same error
    select d.rule into v_rule
      from brokerage.task_decision d
     where d.setup = p_run.setup and d.run_id = p_run.run_id and d.status = 'error'
       and d.arm is not distinct from v_arm and right(d.reason, length(v_error)) = v_error
     limit 1;
    insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, rule, reason, errcode, candidates,
                                         rejected, not_candidates, arm)
    select p_run.setup, p_run.run_id, p_task_ids[1], p_run.started_at, 'error', coalesce(v_rule, f.rule),
           concat_ws(': ', f.place, 'rule ' || v_rule || ' of profile ' || v_rules[1].profile, v_error), v_errcode, 0,
           0, 0, v_arm
      from (select null) n
      left join lateral brokerage.failing_rule(p_run.setup, v_rules, p_run.algorithm, p_task_ids[1], p_queues,
                                               v_error) f on v_rule is null;
    return;
  end if;
  perform brokerage.decide(p_run, p_rules, p_task_ids[:v_half], p_queues);
  perform brokerage.decide(p_run, p_rules, p_task_ids[v_half + 1:],
                           case when brokerage.sees_assignments(p_rules, p_run.algorithm)
                                then brokerage.with_assignments(p_run, p_task_ids[:v_half], p_queues)
                                else p_queues end);
end $$;

comment on function brokerage.decide(
  brokerage.run, brokerage.profile_rule[], bigint[], brokerage.queue_facts[]) is
  'Decides tasks in a run and stores the decisions (brokerage.task_decision, brokerage.decision); a task whose '
  'values raise an error is stored with the error. Errors: PB001, PB002 (a rule that does not fit).';
