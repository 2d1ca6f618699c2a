-- The answers of brokerage.judge for a profile whose weights see the assignments of the same batch (order-and-turns.md,
-- live-counter; remaining work, task-weights.md, Remaining work): each task in turn, highest current priority first (as
-- the tasks stand), is weighed over the queues that no rule rejects, and its jobs (or the task itself) are given away
-- before the next turn (brokerage.compose_turns). In a trial each arm has its own turns, which see what both assigned.
create or replace function brokerage.answers_in_turn(
  p_run brokerage.run, p_rules brokerage.profile_rule[], p_subjects brokerage.facts_by_subject,
  p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean
) returns setof brokerage.task_answer
language plpgsql volatile as $$
declare
  -- work is counted by share
  v_pools int[] := array(
    select case when p_run.algorithm = 'production_task' then dense_rank() over (order by f.gshare) else 1 end
      from unnest(p_tasks) with ordinality f order by f.ordinality);
  -- what each pool got, see brokerage.assigned_before
  v_assigned text[] := array_fill('{}'::text, array[cardinality(v_pools)]);
  v_answer brokerage.task_answer;
  v_arm record;
  v_turns refcursor;
  -- by arm, of which there are one or two
  v_arms text[] := '{}'::text[];
  v_cursors refcursor[] := '{}'::refcursor[];
  v_first_of_zeros boolean[] := '{}'::boolean[];
  v_sees boolean[] := '{}'::boolean[];  -- whether it sees assignments
  v_turn int[] := '{}'::int[];
  v_a int;
  v_outside bigint;
  v_rejected bigint;
  v_survivors bigint;
  v_again boolean;
  v_kept bigint;
  v_names text[];
  v_numbers bigint[];
  v_weights float8[];
  v_queued bigint[];
  v_capacities bigint[];
  v_chunks int[];
  v_probabilities float8[];
  v_place int;
begin
  for v_arm in select a.* from brokerage.arms(p_run, p_rules, p_tasks) a loop
    v_turns := null;
    open v_turns no scroll for execute brokerage.compose_turns(v_arm.rules, p_run.algorithm, p_wide)
      using case when cardinality(v_arm.numbers) = cardinality(p_tasks) then p_subjects
                 else brokerage.facts_of_some(p_subjects, v_arm.numbers, cardinality(p_queues)) end,
            brokerage.tasks_at(p_tasks, v_arm.numbers), p_queues;
    v_arms := v_arms || coalesce(v_arm.arm, '');
    v_cursors := v_cursors || v_turns;
    v_first_of_zeros := v_first_of_zeros || brokerage.takes_first_of_zeros(v_arm.rules, p_run.algorithm);
    v_sees := v_sees || (p_run.algorithm = 'production_task'
                         or brokerage.sees_assignments(v_arm.rules, p_run.algorithm));
    v_turn := v_turn || 0;
  end loop;
  for v_number in 1 .. cardinality(p_tasks) loop
    v_a := array_position(v_arms, coalesce((p_tasks[v_number]).arm, ''));
    v_turns := v_cursors[v_a];
    v_turn[v_a] := v_turn[v_a] + 1;
    perform set_config('brokerage.assigned',
                       v_turn[v_a] || ' ' || case when v_sees[v_a] then v_assigned[v_pools[v_number]] else '{}' end,
                       true);
    v_answer := null;
    fetch v_turns into v_outside, v_rejected, v_survivors, v_answer.lost, v_answer.reasons, v_answer.queues, v_again,
      v_kept, v_names, v_numbers, v_weights, v_queued, v_capacities, v_chunks;
    v_answer.number := v_number;
    v_answer.task_id := p_tasks[v_number].task_id;
    v_answer.status := case when v_again then null when v_kept > 0 then 'candidates' else 'pending' end;
    v_answer.candidates := v_kept;
    v_answer.rejected := v_rejected + v_survivors - v_kept;
    v_answer.not_candidates := v_outside;
    if v_kept > 0 and p_run.algorithm = 'production_task' then
      v_probabilities := brokerage.probabilities(v_weights, v_first_of_zeros[v_a]);
      v_place := brokerage.draw_nucleus(v_probabilities, hashint8extended(v_answer.task_id, p_run.seed));
      v_answer.nucleus := v_names[v_place];
      v_answer.probability := v_probabilities[v_place];
      if p_tasks[v_number].gshare is not null then
        v_assigned[v_pools[v_number]] := brokerage.with_assigned(
          v_assigned[v_pools[v_number]], array[v_numbers[v_place]],
          array[greatest(coalesce(p_tasks[v_number].work, 0), 0)]);
      end if;
    elsif v_kept > 0 then
      v_answer.given := brokerage.distributed(p_run, p_tasks[v_number], v_weights, v_queued, v_capacities, v_chunks);
      v_assigned[1] := brokerage.with_assigned(v_assigned[1], v_numbers, v_answer.given);
    end if;
    return next v_answer;
  end loop;
  foreach v_turns in array v_cursors loop
    close v_turns;
  end loop;
end $$;

comment on function brokerage.answers_in_turn(
  brokerage.run, brokerage.profile_rule[], brokerage.facts_by_subject, brokerage.task_facts[],
  brokerage.queue_facts[], boolean) is
  'Answers about tasks one after the other where weights see what the batch has assigned; without status for a task '
  'that is decided once more. Errors: PB001, PB002 (a rule that does not fit).';
