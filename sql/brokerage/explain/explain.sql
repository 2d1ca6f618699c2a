-- The query that decides also explains. It names all rules that reject a queue, not only the first: rules that look at
-- the pair by itself, and set rules that hold for the task, which would reject the queue if it reached them. Choices
-- are not named, since they depend on the other queues. The reasons for a task that is decided once more (anal-loops)
-- are those of the second pass, and a row without queue says so.
create or replace function brokerage.explain(
  p_setup text, p_task_id bigint, p_profile text default null, p_algorithm text default null
) returns table (queue text, verdict text, rank bigint, rule text, criteria text, reason text, weight float8,
                 factors jsonb, all_reasons text[])
language plpgsql stable
security definer set search_path = brokerage, pg_temp
set jit = off set enable_mergejoin = off set enable_memoize = off set cursor_tuple_fraction = 1 set work_mem = '64MB'
as $$
declare
  v_profile text := brokerage.profile_of_task(p_setup, p_task_id, p_profile);
  v_base_profile text;
  v_algorithm text;
  v_rules brokerage.profile_rule[];
  v_problem text;
  v_tasks brokerage.task_facts[];
  v_queues brokerage.queue_facts[];
  v_subjects brokerage.facts_by_subject;
  v_task_id bigint;
  v_status text;
  v_rule text;
  v_reason text;
  v_place text;
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_known_setup(p_setup);
  perform from workload.task t where t.setup = p_setup and t.task_id = p_task_id;
  if not found then
    raise exception 'task % is not in setup %', coalesce(p_task_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Load it with its world (broker load), or name another: broker tasks lists them.';
  end if;
  v_algorithm := coalesce(p_algorithm, brokerage.algorithm_of(p_setup, p_task_id));
  v_rules := brokerage.rules_of(v_profile, v_algorithm);
  v_base_profile := brokerage.base_profile(v_profile);
  v_problem := (select p.problem
                  from brokerage.task_problems(p_setup, array[p_task_id], v_base_profile, v_algorithm) p);
  if v_problem is not null then
    return query
    select null::text, 'error', null::bigint, null::text, null::text, v_problem, null::float8, null::jsonb,
           null::text[];
    return;
  end if;
  v_tasks := brokerage.facts_by_priority(p_setup, array[p_task_id], v_base_profile, v_algorithm);
  v_tasks := brokerage.with_job_check(p_setup, v_rules, v_algorithm, v_base_profile, v_tasks);
  v_queues := brokerage.facts_of_candidates(p_setup, v_algorithm);
  execute brokerage.compose_task_rules(v_rules, v_algorithm) into v_task_id, v_status, v_rule, v_reason using v_tasks;
  if v_status is not null then
    return query
    select null::text, v_status, null::bigint, v_rule, null::text, v_reason, null::float8, null::jsonb, null::text[];
    return;
  end if;
  v_subjects := brokerage.facts_by_subject(p_setup, v_algorithm, v_tasks, v_queues, v_base_profile);
  v_tasks := brokerage.explained_pass(v_rules, v_algorithm, v_subjects, v_tasks, v_queues);
  if (v_tasks[1]).second_pass then
    return query
    select null::text, 'second pass', null::bigint, s.rule, null::text, s.reason, null::float8, null::jsonb,
           null::text[]
      from brokerage.second_pass(v_rules, v_algorithm) s;
  end if;
  return query select e.* from brokerage.explained_queues(v_rules, v_algorithm, v_subjects, v_tasks, v_queues) e;
exception when data_exception or cardinality_violation or raise_exception then
  select f.place into v_place
    from brokerage.failing_rule(p_setup, v_rules, v_algorithm, p_task_id, v_queues, sqlerrm) f;
  if v_place is null then
    raise;
  end if;
  raise exception 'task %, %: %', p_task_id, v_place, sqlerrm
    using errcode = sqlstate,
          hint = 'Make the rule handle such values, or switch it off (brokerage.set_rule).';
end $$;

comment on function brokerage.explain(text, bigint, text, text) is
  'Explains whether each queue would now take the jobs of a task: the verdict; the rule that rejects the queue, with '
  'the compared numbers; all rules that would reject it (set rules as they hold now, no choices); or its weight, '
  'factor by factor. A task that a task rule refuses has one row without queue. A task that is decided without '
  'locality has such a row (second pass) before the others. Without p_algorithm the rules are those of the broker that '
  'has the task. Errors: PB001 (no such profile), PB002, PB004 (no such task).';
