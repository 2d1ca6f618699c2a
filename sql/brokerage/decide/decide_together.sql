-- One query made from the profile's rules (brokerage.judge) decides the tasks. The decisions are stored with the jobs
-- that candidates get, or the nuclei. Tasks with unreadable texts get their error before that.
create or replace function brokerage.decide_together(
  p_run brokerage.run, p_rules brokerage.profile_rule[], p_task_ids bigint[], p_queues brokerage.queue_facts[]
) returns void
language plpgsql as $$
declare
  v_base_profile text := brokerage.base_profile(p_run.profile);
  v_erroneous bigint[];
  v_tasks brokerage.task_facts[];
  v_arms brokerage.arm[];
  v_subjects brokerage.facts_by_subject;
  v_part bigint;
begin
  with error as (
    insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, reason, errcode, candidates,
                                         rejected, not_candidates, arm)
    select p_run.setup, p_run.run_id, p.task_id, p_run.started_at, 'error', p.problem, 'PB001', 0, 0, 0,
           brokerage.arm_of(p_run.setup, p_run.trial, p.task_id)
      from brokerage.task_problems(p_run.setup, p_task_ids, v_base_profile, p_run.algorithm) p
    returning task_id
  )
  select array_agg(e.task_id) into v_erroneous from error e;

  v_tasks := brokerage.facts_by_priority(p_run.setup,
                                         array(select u.task_id from unnest(p_task_ids) u(task_id)
                                               where u.task_id = any (v_erroneous) is not true),
                                         v_base_profile, p_run.algorithm);
  if cardinality(v_tasks) = 0 then
    return;
  end if;
  if p_run.trial is not null then
    v_tasks := brokerage.with_arms(p_run.setup, p_run.trial, v_tasks);
  end if;
  v_arms := array(select a from brokerage.arms(p_run, p_rules, v_tasks) a);
  v_tasks := array(
    select f
      from unnest(v_arms) a
     cross join lateral unnest(brokerage.with_job_check(p_run.setup, a.rules, p_run.algorithm, v_base_profile,
                                                        brokerage.tasks_at(v_tasks, a.numbers))) f
     order by f.current_priority desc, f.task_id);
  v_subjects := brokerage.facts_by_subject(p_run.setup, p_run.algorithm, v_tasks, p_queues, v_base_profile);

  insert into brokerage.part (setup, run_id, decided_at, queues)
  values (p_run.setup, p_run.run_id, p_run.started_at, array(select f.queue from unnest(p_queues) f))
  returning part into v_part;
  if not p_run.dry and (select s.keep_facts from brokerage.setting_in_force s where s.setup = p_run.setup) then
    perform brokerage.keep_facts(p_run, v_part, p_rules, v_subjects, v_tasks, p_queues);
  end if;
  with answer as materialized (
    select a.* from brokerage.judge(p_run, v_arms, v_subjects, v_tasks, p_queues) a
  ), stored as (
    insert into brokerage.verdict (setup, run_id, task_id, decided_at, part, lost, reasons, queues)
    select p_run.setup, p_run.run_id, a.task_id, p_run.started_at, v_part, coalesce(a.lost, '{}'),
           coalesce(a.reasons, '{}'), coalesce(a.queues, '{}')
      from answer a
     where a.lost is not null or a.queues is not null
  ), given as (
    insert into brokerage.assignment (setup, run_id, task_id, queue, jobs, remote)
    select p_run.setup, p_run.run_id, a.task_id, q.queue, a.given[q.rank],
           case when f.input_bytes > 0 then 1 - least(coalesce(p.disk_bytes, 0)::float8 / f.input_bytes, 1) end
      from answer a
      join unnest(v_tasks) with ordinality f on f.task_id = a.task_id
     cross join lateral unnest(a.queues) q
      join unnest(p_queues) with ordinality u on u.queue = q.queue
      left join unnest(v_subjects.placement) p on p.pair = f.ordinality * cardinality(p_queues) + u.ordinality
     where a.given is not null and q.verdict = 'c' and a.given[q.rank] > 0
  ), sent as (  -- later tasks see the work of these tasks (brokerage.work_at_nucleus)
    insert into brokerage.nucleus_assignment as n (setup, task_id, run_id, nucleus, probability, gshare, priority, work,
                                                   assigned_at)
    select p_run.setup, a.task_id, p_run.run_id, a.nucleus, a.probability, f.gshare, f.current_priority,
           greatest(coalesce(f.work, 0), 0), p_run.started_at
      from answer a
      join unnest(v_tasks) f on f.task_id = a.task_id
     where a.nucleus is not null
    on conflict (setup, task_id) do update
       set run_id = excluded.run_id, nucleus = excluded.nucleus, probability = excluded.probability,
           gshare = excluded.gshare, priority = excluded.priority, work = excluded.work,
           assigned_at = excluded.assigned_at
  ), continued as (  -- the task broker took these tasks in JEDI's status assigning, which becomes ready
    update workload.task t
       set nucleus = a.nucleus, status = case when t.status = 'assigning' then 'ready' else t.status end
      from answer a
     where t.setup = p_run.setup and t.task_id = a.task_id and a.nucleus is not null
  )
  insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, rule, reason, retry_at, candidates,
                                       rejected, not_candidates, nucleus, arm, changes)
  select p_run.setup, p_run.run_id, a.task_id, p_run.started_at, a.status, a.rule, a.reason, a.retry_at, a.candidates,
         a.rejected, a.not_candidates, a.nucleus, f.arm, f.changes
    from answer a
    join unnest(v_tasks) f on f.task_id = a.task_id;
end $$;

comment on function brokerage.decide_together(
  brokerage.run, brokerage.profile_rule[], bigint[], brokerage.queue_facts[]) is
  'Decides tasks in a run by one query, stores the decisions and assigns the jobs, or the tasks. Errors: PB001, PB002 '
  '(a rule that does not fit), and errors that the values of a task raise.';
