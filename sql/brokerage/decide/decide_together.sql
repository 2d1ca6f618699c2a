-- Decides tasks by one query made of the profile's rules (brokerage.compose). Tasks with texts that cannot be read
-- get their error before that, tasks that a task rule refuses its reason. A task that the rule of kind second pass
-- names gets no decision in the first pass. It is decided once more, and its decision records that. Long because of
-- the query.
create or replace function brokerage.decide_together(
  p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]
) returns void
language plpgsql as $$
declare
  v_base_profile text := brokerage.base_profile(p_run.profile);
  v_tasks brokerage.task_facts[];
  v_wide boolean;
begin
  insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, reason, errcode, candidates,
                                       rejected, not_candidates)
  select p_run.setup, p_run.run_id, t.task_id, p_run.started_at, 'error', p.problem, 'PB001', 0, 0, 0
    from workload.task t
   cross join lateral (select brokerage.task_problem(t, v_base_profile, p_run.algorithm)) p(problem)
   where t.setup = p_run.setup and t.task_id = any (p_task_ids) and p.problem is not null;

  v_tasks := array(select f from brokerage.facts_of_tasks(p_run.setup, p_task_ids, v_base_profile, p_run.algorithm) f
                    where not exists (select from brokerage.task_decision d
                                       where d.setup = p_run.setup and d.run_id = p_run.run_id
                                         and d.task_id = f.task_id)
                    order by f.task_id);
  v_tasks := brokerage.with_job_check(p_run.setup, p_run.profile, p_run.algorithm, v_tasks);

  execute format($q$
    insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, retry_at, rule, reason, candidates,
                                         rejected, not_candidates)
    select $2, $3, s.task_id, $4, s.status,
           case when s.status = 'pending' then $4 + brokerage.wait_of(p.parameters, t.current_priority) end,
           s.rule, s.reason, 0, 0, 0
      from (%s) s(task_id, status, rule, reason)
      join unnest($1) t on t.task_id = s.task_id
      left join brokerage.rule_in_force p on p.profile = $5 and p.algorithm = $6 and p.kind = 'pending' and p.enabled
    $q$, brokerage.compose_task_rules(p_run.profile, p_run.algorithm))
    using v_tasks, p_run.setup, p_run.run_id, p_run.started_at, p_run.profile, p_run.algorithm;
  v_tasks := array(select f from unnest(v_tasks) f
                    where not exists (select from brokerage.task_decision d
                                       where d.setup = p_run.setup and d.run_id = p_run.run_id
                                         and d.task_id = f.task_id));

  loop
    v_wide := cardinality(v_tasks) * cardinality(p_queues) > 5000;
    if not p_run.dry
       and (p_run.algorithm = 'production_task' or brokerage.sees_assignments(p_run.profile, p_run.algorithm)) then
      perform brokerage.decide_in_turn(p_run, v_tasks, p_queues, v_wide);
    else
      execute brokerage.compose(p_run.profile, p_run.algorithm, v_wide)
              || $q$, said as materialized (
          select v.task_id,
                 array_agg(row(v.queue, v.verdict, v.rank, v.weight, v.factors, v.queued, v.capacity, v.chunk, v.rule,
                               v.reason)::brokerage.queue_verdict) as queues,
                 count(*) filter (where v.verdict = 'c') as kept,
                 count(*) filter (where v.verdict = 'r') as rejected,
                 count(*) filter (where v.verdict = 'n') as outside
            from (select j.task_id, j.queue, case when j.failed like '!%' then 'n' else 'r' end::"char" as verdict,
                         null::int as rank, j.weight, j.factors, null::bigint as queued, null::bigint as capacity,
                         null::int as chunk, ltrim(split_part(j.failed, E'\t', 1), '!') as rule,
                         split_part(j.failed, E'\t', 2) as reason
                    from judged j
                   where j.failed is not null
                  union all
                  select r.task_id, r.queue, case when r.place > r.best then 'r' else 'c' end::"char",
                         case when r.place <= coalesce(r.best, r.place) then r.place end,
                         r.weight, r.factors, r.queued, r.capacity, r.chunk,
                         case when r.place > r.best then split_part(r.best_rule, E'\t', 1) end,
                         case when r.place > r.best
                              then format('%snumber %s by weight, the best %s are taken',
                                          split_part(r.best_rule, E'\t', 2), r.place, r.best) end
                    from ranked r) v
           group by v.task_id
        ), again as materialized (
          select j.task_id from judged j
           where not exists (select from ranked r where r.task_number = j.task_number)
           group by j.task_number, j.task_id having $q$
              || brokerage.compose_second_pass(p_run.profile, p_run.algorithm, 'j.task_number')
              || $q$
        ), stored as (
          insert into brokerage.verdict (setup, run_id, task_id, decided_at, queues)
          select $1, $5, s.task_id, $6, s.queues from said s where s.task_id not in (select a.task_id from again a)
        )
        insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, retry_at, candidates, rejected,
                                             not_candidates)
        select $1, $5, t.task_id, $6, case when s.kept > 0 then 'candidates' else 'pending' end,
               case when s.kept > 0 then null else $6 + brokerage.wait_of(p.parameters, t.current_priority) end,
               coalesce(s.kept, 0), coalesce(s.rejected, 0), coalesce(s.outside, 0)
          from unnest($2) t
          left join said s on s.task_id = t.task_id
          left join brokerage.rule_in_force p on p.profile = $7 and p.algorithm = $8 and p.kind = 'pending'
                                             and p.enabled
         where t.task_id not in (select a.task_id from again a)$q$
        using p_run.setup, v_tasks, p_queues, v_base_profile, p_run.run_id, p_run.started_at,
              p_run.profile, p_run.algorithm;
    end if;
    update brokerage.task_decision d set rule = s.rule, reason = s.reason
      from unnest(v_tasks) f
     cross join brokerage.second_pass(p_run.profile, p_run.algorithm) s
     where f.second_pass and d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = f.task_id;
    v_tasks := array(select brokerage.in_second_pass(f) from unnest(v_tasks) f
                      where not exists (select from brokerage.task_decision d
                                         where d.setup = p_run.setup and d.run_id = p_run.run_id
                                           and d.task_id = f.task_id)
                      order by f.task_id);
    exit when cardinality(v_tasks) = 0;
  end loop;
end $$;

comment on function brokerage.decide_together(brokerage.run, bigint[], brokerage.queue_facts[]) is
  'Decides tasks in a run by one query and stores the decisions. Errors: PB001, PB002 (a rule that does not fit), and '
  'errors that the figures of a task raise.';
