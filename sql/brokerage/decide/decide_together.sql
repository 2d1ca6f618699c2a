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
  v_subjects brokerage.facts_by_subject;
  v_again bigint[];
  v_wide boolean;
  v_part bigint;
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
                                         and d.task_id = f.task_id)
                    order by f.current_priority desc, f.task_id);
  v_subjects := brokerage.facts_by_subject(p_run.setup, p_run.algorithm, v_tasks, p_queues, v_base_profile);

  insert into brokerage.part (setup, run_id, decided_at, queues)
  values (p_run.setup, p_run.run_id, p_run.started_at,
          array(select f.queue from unnest(p_queues) with ordinality f order by f.ordinality))
  returning part into v_part;
  loop
    v_wide := cardinality(v_tasks) * cardinality(p_queues) > 5000;
    if not p_run.dry
       and (p_run.algorithm = 'production_task' or brokerage.sees_assignments(p_run.profile, p_run.algorithm)) then
      perform brokerage.decide_in_turn(p_run, v_part, v_subjects, v_tasks, p_queues, v_wide);
    else
      execute brokerage.compose(p_run.profile, p_run.algorithm, v_wide)
              || $q$, decided as materialized (
          select v.task_number,
                 array_agg(v.queue_number::int) filter (where v.is_lost) as lost,
                 array_agg(v.failed) filter (where v.is_lost) as reasons,
                 array_agg(brokerage.verdict_of(v.queue, v.failed, v.place, v.best, v.best_rule, v.weight, v.factors,
                                                v.queued, v.capacity, v.chunk)) filter (where not v.is_lost) as queues,
                 count(*) filter (where v.failed is null and v.place <= coalesce(v.best, v.place)) as kept,
                 count(*) filter (where v.failed not like '!%' or v.place > v.best) as rejected,
                 count(*) filter (where v.failed like '!%') as outside
            from (select j.task_number, j.queue_number, j.queue, j.failed, j.factors is null as is_lost,
                         null::bigint as place, null::bigint as best, null as best_rule, j.weight, j.factors,
                         null::bigint as queued, null::bigint as capacity, null::int as chunk
                    from judged j
                   where j.failed is not null
                  union all
                  select r.task_number, r.queue_number, r.queue, null, false, r.place, r.best, r.best_rule, r.weight,
                         r.factors, r.queued, r.capacity, r.chunk
                    from ranked r) v
           group by v.task_number
        ), again as materialized (
          select j.task_number
            from (select l.task_number, l.failed, l.marked from judged l
                   where l.task_number not in (select r.task_number from ranked r)
                  union all
                  select distinct s.task_number, brokerage.reason_head(l.failed), brokerage.reason_head(l.marked)
                    from sieved s
                   cross join lateral unnest(s.reasons, s.marks) l(failed, marked)
                   where s.task_number not in (select r.task_number from ranked r)) j
           group by j.task_number having $q$
              || brokerage.compose_second_pass(p_run.profile, p_run.algorithm, 'j.task_number')
              || $q$
        ), answer as materialized (
          select t.task_id, t.current_priority, s.lost || d.lost as lost, s.reasons || d.reasons as reasons, d.queues,
                 coalesce(d.kept, 0) as kept,
                 coalesce(d.rejected, 0) + coalesce(cardinality(s.lost), 0) - coalesce(s.outside, 0) as rejected,
                 coalesce(d.outside, 0) + coalesce(s.outside, 0) as outside
            from unnest($2) with ordinality t
            left join sieved s on s.task_number = t.ordinality
            left join decided d on d.task_number = t.ordinality
           where t.ordinality not in (select a.task_number from again a)
        ), stored as (
          insert into brokerage.verdict (setup, run_id, task_id, decided_at, part, lost, reasons, queues)
          select $4, $5, a.task_id, $6, $9, coalesce(a.lost, '{}'), coalesce(a.reasons, '{}'), coalesce(a.queues, '{}')
            from answer a
           where a.lost is not null or a.queues is not null
        )
        insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, retry_at, candidates, rejected,
                                             not_candidates)
        select $4, $5, a.task_id, $6, case when a.kept > 0 then 'candidates' else 'pending' end,
               case when a.kept > 0 then null else $6 + brokerage.wait_of(p.parameters, a.current_priority) end,
               a.kept, a.rejected, a.outside
          from answer a
          left join brokerage.rule_in_force p on p.profile = $7 and p.algorithm = $8 and p.kind = 'pending'
                                             and p.enabled$q$
        using v_subjects, v_tasks, p_queues, p_run.setup, p_run.run_id, p_run.started_at,
              p_run.profile, p_run.algorithm, v_part;
    end if;
    update brokerage.task_decision d set rule = s.rule, reason = s.reason
      from unnest(v_tasks) f
     cross join brokerage.second_pass(p_run.profile, p_run.algorithm) s
     where f.second_pass and d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = f.task_id;
    v_again := array(select f.ordinality from unnest(v_tasks) with ordinality f
                      where not exists (select from brokerage.task_decision d
                                         where d.setup = p_run.setup and d.run_id = p_run.run_id
                                           and d.task_id = f.task_id)
                      order by f.ordinality);
    exit when cardinality(v_again) = 0;
    v_tasks := array(select brokerage.in_second_pass(u.f)
                       from (select f, row_number() over () as n from unnest(v_tasks) f) u
                      where u.n = any (v_again));
    v_subjects := brokerage.facts_of_some(v_subjects, v_again, cardinality(p_queues));
  end loop;
end $$;

comment on function brokerage.decide_together(brokerage.run, bigint[], brokerage.queue_facts[]) is
  'Decides tasks in a run by one query and stores the decisions. Errors: PB001, PB002 (a rule that does not fit), and '
  'errors that the figures of a task raise.';
