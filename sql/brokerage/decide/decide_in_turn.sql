-- A batch of a profile whose weights see the assignments of the same batch (order-and-turns.md, live-counter;
-- remaining work, task-weights.md, Remaining work): each task in turn, highest current priority first, is weighed
-- over the queues that no rule rejects, and its jobs (or the task itself) are assigned before the next turn. All
-- turns are rows of one query, planned once: planning each turn by itself took half of the time. The first row
-- computes for all tasks what no assignment changes. Each further row weighs one task and is fetched only when the
-- jobs of the task before are assigned. Long because the query and the loop that reads it belong together.
create or replace function brokerage.decide_in_turn(
  p_run brokerage.run, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean
) returns void
language plpgsql as $$
declare
  v_wait jsonb := (select r.parameters from brokerage.rule_in_force r
                    where r.profile = p_run.profile and r.algorithm = p_run.algorithm and r.kind = 'pending'
                      and r.enabled
                    limit 1);
  v_first_of_zeros boolean := brokerage.takes_first_of_zeros(p_run.profile, p_run.algorithm);
  v_tasks brokerage.task_facts[] := array(select f from unnest(p_tasks) f order by f.current_priority desc, f.task_id);
  -- work is counted by share
  v_pools int[] := array(
    select case when p_run.algorithm = 'production_task' then dense_rank() over (order by f.gshare) else 1 end
      from unnest(v_tasks) with ordinality f order by f.ordinality);
  -- what each pool got, see brokerage.assigned_before
  v_assigned text[] := array_fill('{}'::text, array[cardinality(v_pools)]);
  v_turns refcursor;
  v_outside bigint;
  v_rejected bigint;
  v_survivors bigint;
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
  open v_turns no scroll for execute
    brokerage.compose(p_run.profile, p_run.algorithm, p_wide, false, true)
    || $q$, queue as materialized (
         select q.queue, dense_rank() over (order by q.unified_name) as number from unnest($3) q)
       select u.outside, u.rejected, u.survivors, u.refused || r.said as verdicts, u.again, r.kept, r.names,
              r.numbers, r.weights, r.queued, r.capacities, r.chunks
         from (select n.number, $2[n.number] as task,
                      count(*) filter (where j.failed like '!%') as outside,
                      count(*) filter (where j.failed not like '!%') as rejected,
                      array_agg(row(j.queue, case when j.failed like '!%' then 'n' else 'r' end::"char", null,
                                    j.weight, j.factors, null, null, null,
                                    ltrim(split_part(j.failed, E'\t', 1), '!'),
                                    split_part(j.failed, E'\t', 2))::brokerage.queue_verdict)
                        filter (where j.failed is not null) as refused,
                      count(*) filter (where j.queue is not null and j.failed is null) as survivors,
                      array_agg(row(j.queue, j.unified_name, j.factors, j.q, j.p)::brokerage.survivor)
                        filter (where j.queue is not null and j.failed is null) as survivor,
                      array_agg(q.number) filter (where j.queue is not null and j.failed is null) as queue_number,
                      $q$
    || brokerage.compose_second_pass(p_run.profile, p_run.algorithm, 'n.number')
    || $q$ as again
                 from generate_subscripts($2, 1) n(number)
                 left join judged j on j.task_number = n.number
                 left join queue q on q.queue = j.queue
                group by n.number order by n.number offset 0) u
        cross join lateral ($q$
    || brokerage.compose_turn(p_run.profile, p_run.algorithm)
    || $q$ select array_agg(row(r.queue,
                                case when r.failed is not null or r.place > r.best then 'r' else 'c' end::"char",
                                case when r.place <= coalesce(r.best, r.place) then r.place end,
                                r.weight, r.factors, r.queued, r.capacity, r.chunk,
                                coalesce(split_part(r.failed, E'\t', 1),
                                         case when r.place > r.best then split_part(r.best_rule, E'\t', 1) end),
                                coalesce(split_part(r.failed, E'\t', 2),
                                         case when r.place > r.best
                                              then format('%snumber %s by weight, the best %s are taken',
                                                          split_part(r.best_rule, E'\t', 2), r.place, r.best)
                                         end))::brokerage.queue_verdict) as said,
                  count(*) filter (where r.is_kept) as kept,
                  array_agg(r.queue) filter (where r.is_kept) as names,
                  array_agg(r.number) filter (where r.is_kept) as numbers,
                  array_agg(r.weight) filter (where r.is_kept) as weights,
                  array_agg(r.queued) filter (where r.is_kept) as queued,
                  array_agg(r.capacity) filter (where r.is_kept) as capacities,
                  array_agg(coalesce(r.chunk, 25)) filter (where r.is_kept) as chunks
             from (select j.*, j.place <= coalesce(j.best, j.place) as is_kept
                     from judged j
                    order by j.place offset 0) r) r$q$
    using p_run.setup, v_tasks, p_queues, brokerage.base_profile(p_run.profile);
  for v_number in 1 .. cardinality(v_tasks) loop
    perform set_config('brokerage.assigned', v_number || ' ' || v_assigned[v_pools[v_number]], true);
    fetch v_turns into v_outside, v_rejected, v_survivors, v_told, v_again, v_kept, v_names, v_numbers, v_weights,
      v_queued, v_capacities, v_chunks;
    if not v_again then
      v_decisions := v_decisions || (p_run.setup, p_run.run_id, v_tasks[v_number].task_id, p_run.started_at,
                                     case when v_kept > 0 then 'candidates' else 'pending' end, null, null, null,
                                     case when v_kept > 0 then null
                                          else p_run.started_at
                                               + brokerage.wait_of(v_wait, v_tasks[v_number].current_priority) end,
                                     v_kept, v_rejected + v_survivors - v_kept, v_outside)::brokerage.task_decision;
    end if;
    if not v_again and v_told is not null then
      v_verdicts := v_verdicts || (p_run.setup, p_run.run_id, v_tasks[v_number].task_id, p_run.started_at,
                                   v_told)::brokerage.verdict;
    end if;
    if v_kept > 0 and p_run.algorithm = 'production_task' then
      v_sent := v_sent || brokerage.nucleus_for(p_run, v_tasks[v_number], v_names,
                                                brokerage.probabilities(v_weights, v_first_of_zeros));
      if v_sent[cardinality(v_sent)].gshare is not null then
        v_assigned[v_pools[v_number]] := brokerage.with_assigned(
          v_assigned[v_pools[v_number]], array[v_numbers[array_position(v_names, v_sent[cardinality(v_sent)].nucleus)]],
          array[v_sent[cardinality(v_sent)].work]);
      end if;
    elsif v_kept > 0 then
      v_assigned[1] := brokerage.with_assigned(v_assigned[1], v_numbers,
        brokerage.assign_task(p_run, v_tasks[v_number].task_id, v_names, v_weights, v_queued, v_capacities, v_chunks));
    end if;
    -- stored together: a statement a row takes five times as long
    if v_number % 100 = 0 or v_number = cardinality(v_tasks) then
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

comment on function brokerage.decide_in_turn(brokerage.run, brokerage.task_facts[], brokerage.queue_facts[], boolean) is
  'Decides tasks of a run one after the other where weights see what the batch has assigned, stores the decisions '
  '(none for a task that is decided once more) and '
  'assigns the jobs, or the tasks. Errors: PB001, PB002 (a rule that does not fit).';
