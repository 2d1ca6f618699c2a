-- The answers of brokerage.judge for a profile whose weights see the assignments of the same batch: the live counter
-- (order-and-turns.md, live-counter) or the remaining work (task-weights.md, Remaining work). Tasks take turns in their
-- order, highest current priority first. In the turn of a task, the queues that no rule rejects are weighed, and its
-- jobs (or the task itself) are assigned. All turns of an arm are one query (brokerage.turns_of_arm), from which a
-- cursor fetches one row per turn. Before each fetch this function sets brokerage.assigned, which the query reads
-- (brokerage.assigned_before): the number of the turn, and the assignments of earlier turns. In a trial each arm has
-- its own turns, which see the assignments of both arms.
create or replace function brokerage.answers_in_turn(
  p_run brokerage.run, p_arms brokerage.arm[], p_subjects brokerage.facts_by_subject,
  p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean
) returns setof brokerage.task_answer
language plpgsql volatile as $$
declare
  -- in panda2026 the work is counted by share
  v_pools int[] := array(
    select case when p_run.algorithm = 'production_task' and p_subjects.base_profile <> 'documented'
                then dense_rank() over (order by f.gshare) else 1 end
      from unnest(p_tasks) with ordinality f order by f.ordinality);
  -- assignments of each pool, see brokerage.assigned_before
  v_assigned text[] := array_fill('{}'::text, array[cardinality(v_pools)]);
  v_answer brokerage.task_answer;
  v_arm brokerage.arm;
  v_arm_of int[];  -- by task
  -- by arm, of which there are one or two
  v_cursors refcursor[] := '{}'::refcursor[];
  v_first_of_zeros boolean[] := '{}'::boolean[];
  v_sees boolean[] := '{}'::boolean[];  -- whether the arm sees assignments
  v_turns int[] := '{}'::int[];  -- number of tasks that the arm has had
  v_cursor refcursor;
  v_turn brokerage.turn;
  v_task brokerage.task_facts;
  v_a int;
  v_probabilities float8[];
  v_place int;
begin
  foreach v_arm in array p_arms loop
    v_cursors := v_cursors || brokerage.turns_of_arm(v_arm, p_run.algorithm, p_subjects, p_tasks, p_queues, p_wide);
    v_first_of_zeros := v_first_of_zeros || brokerage.takes_first_of_zeros(v_arm.rules, p_run.algorithm);
    v_sees := v_sees || (p_run.algorithm = 'production_task'
                         or brokerage.sees_assignments(v_arm.rules, p_run.algorithm));
    v_turns := v_turns || 0;
  end loop;
  v_arm_of := array(
    select a.ordinality from unnest(p_arms) with ordinality a cross join lateral unnest(a.numbers) n order by n);
  for v_number in 1 .. cardinality(p_tasks) loop
    v_a := v_arm_of[v_number];
    v_cursor := v_cursors[v_a];
    v_turns[v_a] := v_turns[v_a] + 1;
    perform set_config('brokerage.assigned',
                       v_turns[v_a] || ' ' || case when v_sees[v_a] then v_assigned[v_pools[v_number]] else '{}' end,
                       true);
    fetch v_cursor into v_turn;
    v_task := p_tasks[v_number];
    v_answer := null;
    v_answer.number := v_number;
    v_answer.task_id := v_task.task_id;
    v_answer.status := case when v_turn.again then null when v_turn.kept > 0 then 'candidates' else 'pending' end;
    v_answer.candidates := v_turn.kept;
    v_answer.rejected := v_turn.rejected + v_turn.survivors - v_turn.kept;
    v_answer.not_candidates := v_turn.outside;
    v_answer.lost := v_turn.lost;
    v_answer.reasons := v_turn.reasons;
    v_answer.queues := v_turn.queues;
    if v_turn.kept > 0 and p_run.algorithm = 'production_task' then
      v_probabilities := brokerage.probabilities(v_turn.weights, v_first_of_zeros[v_a]);
      v_place := brokerage.draw_nucleus(v_probabilities, hashint8extended(v_task.task_id, p_run.seed));
      v_answer.nucleus := v_turn.names[v_place];
      v_answer.probability := v_probabilities[v_place];
      if v_task.gshare is not null or p_subjects.base_profile = 'documented' then
        v_assigned[v_pools[v_number]] := brokerage.with_assigned(
          v_assigned[v_pools[v_number]], array[v_turn.numbers[v_place]],
          array[greatest(coalesce(v_task.work, 0), 0)]);
      end if;
    elsif v_turn.kept > 0 then
      v_answer.given := brokerage.distributed(p_run, v_task, v_turn.weights, v_turn.queued, v_turn.capacities,
                                              v_turn.chunks);
      v_assigned[1] := brokerage.with_assigned(v_assigned[1], v_turn.numbers, v_answer.given);
    end if;
    return next v_answer;
  end loop;
  foreach v_cursor in array v_cursors loop
    close v_cursor;
  end loop;
end $$;

comment on function brokerage.answers_in_turn(
  brokerage.run, brokerage.arm[], brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[],
  boolean) is
  'Answers about tasks one after the other, for weights that see the assignments of the batch; a task that is decided '
  'once more has no status. Errors: PB001, PB002 (a rule that does not fit).';
