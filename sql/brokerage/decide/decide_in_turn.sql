-- A batch of a profile whose weights see the assignments of the same batch (order-and-turns.md, live-counter;
-- remaining work, task-weights.md, Remaining work): each task in turn, highest current priority first, is weighed
-- over the queues that no rule rejects, and its jobs (or the task itself) are assigned before the next turn
-- (brokerage.compose_turns).
create or replace function brokerage.decide_in_turn(
  p_run brokerage.run, p_part bigint, p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[],
  p_queues brokerage.queue_facts[], p_wide boolean
) returns void
language plpgsql as $$
declare
  v_wait jsonb := (select r.parameters from brokerage.rule_in_force r
                    where r.profile = p_run.profile and r.algorithm = p_run.algorithm and r.kind = 'pending'
                      and r.enabled
                    limit 1);
  v_first_of_zeros boolean := brokerage.takes_first_of_zeros(p_run.profile, p_run.algorithm);
  -- work is counted by share
  v_pools int[] := array(
    select case when p_run.algorithm = 'production_task' then dense_rank() over (order by f.gshare) else 1 end
      from unnest(p_tasks) with ordinality f order by f.ordinality);
  -- what each pool got, see brokerage.assigned_before
  v_assigned text[] := array_fill('{}'::text, array[cardinality(v_pools)]);
  v_turns refcursor;
  v_outside bigint;
  v_rejected bigint;
  v_survivors bigint;
  v_lost int[];
  v_reasons text[];
  v_told brokerage.queue_verdict[];
  v_again boolean;
  v_kept bigint;
  v_names text[];
  v_numbers bigint[];
  v_weights float8[];
  v_queued bigint[];
  v_capacities bigint[];
  v_chunks int[];
  v_decisions brokerage.task_decision[] := '{}'::brokerage.task_decision[];
  v_verdicts brokerage.verdict[] := '{}'::brokerage.verdict[];
  v_sent brokerage.nucleus_assignment[] := '{}'::brokerage.nucleus_assignment[];
begin
  open v_turns no scroll for execute brokerage.compose_turns(p_run.profile, p_run.algorithm, p_wide)
    using p_subjects, p_tasks, p_queues;
  for v_number in 1 .. cardinality(p_tasks) loop
    perform set_config('brokerage.assigned', v_number || ' ' || v_assigned[v_pools[v_number]], true);
    fetch v_turns into v_outside, v_rejected, v_survivors, v_lost, v_reasons, v_told, v_again, v_kept, v_names,
      v_numbers, v_weights, v_queued, v_capacities, v_chunks;
    if not v_again then
      v_decisions := v_decisions || (p_run.setup, p_run.run_id, p_tasks[v_number].task_id, p_run.started_at,
                                     case when v_kept > 0 then 'candidates' else 'pending' end, null, null, null,
                                     case when v_kept > 0 then null
                                          else p_run.started_at
                                               + brokerage.wait_of(v_wait, p_tasks[v_number].current_priority) end,
                                     v_kept, v_rejected + v_survivors - v_kept, v_outside)::brokerage.task_decision;
    end if;
    if not v_again and (v_lost is not null or v_told is not null) then
      v_verdicts := v_verdicts || (p_run.setup, p_run.run_id, p_tasks[v_number].task_id, p_run.started_at, p_part,
                                   coalesce(v_lost, '{}'), coalesce(v_reasons, '{}'),
                                   coalesce(v_told, '{}'))::brokerage.verdict;
    end if;
    if v_kept > 0 and p_run.algorithm = 'production_task' then
      v_sent := v_sent || brokerage.nucleus_for(p_run, p_tasks[v_number], v_names,
                                                brokerage.probabilities(v_weights, v_first_of_zeros));
      if v_sent[cardinality(v_sent)].gshare is not null then
        v_assigned[v_pools[v_number]] := brokerage.with_assigned(
          v_assigned[v_pools[v_number]], array[v_numbers[array_position(v_names, v_sent[cardinality(v_sent)].nucleus)]],
          array[v_sent[cardinality(v_sent)].work]);
      end if;
    elsif v_kept > 0 then
      v_assigned[1] := brokerage.with_assigned(v_assigned[1], v_numbers,
        brokerage.assign_task(p_run, p_tasks[v_number].task_id, v_names, v_weights, v_queued, v_capacities, v_chunks));
    end if;
    -- stored together: a statement a row takes five times as long
    if v_number % 100 = 0 or v_number = cardinality(p_tasks) then
      insert into brokerage.task_decision select d.* from unnest(v_decisions) d;
      insert into brokerage.verdict select v.* from unnest(v_verdicts) v;
      perform brokerage.assign_nuclei(v_sent) where cardinality(v_sent) > 0;
      v_decisions := '{}'::brokerage.task_decision[];
      v_verdicts := '{}'::brokerage.verdict[];
      v_sent := '{}'::brokerage.nucleus_assignment[];
    end if;
  end loop;
  close v_turns;
end $$;

comment on function brokerage.decide_in_turn(
  brokerage.run, bigint, brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[], boolean) is
  'Decides tasks of a run one after the other where weights see what the batch has assigned, stores the decisions '
  '(none for a task that is decided once more) and '
  'assigns the jobs, or the tasks. Errors: PB001, PB002 (a rule that does not fit).';
