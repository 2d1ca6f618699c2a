-- task-brokerage.md, task-job-check: the pairs of task and queue that pass the row rules of the job broker, up to the
-- rule in the parameter last and without the rules in the parameter without. Each queue counts as one of the nucleus.
-- The query does not keep the reasons why pairs fail.
create or replace function brokerage.compose_check(
  p_rules brokerage.profile_rule[], p_parameters jsonb, p_wide boolean
) returns text
language sql stable as $$
  with facts as materialized (
    select f.* from brokerage.compose_facts(p_wide, 'production_job', true, null) f
  ), rule as materialized (
    select array_agg(row(1, s.part, 0, s.rule, s.kind, false, null, null,
                         brokerage.call_on(s.call, concat_ws(', ', f.task, f.queue, f.pair)), '',
                         s.definition)::brokerage.plan_step
                     order by (s.definition).position, s.rule) as step
      from brokerage.plan_steps(p_rules, 'production_job') s
     cross join facts f
     where s.kind = 'row rule' and not p_parameters -> 'without' ? s.rule
       and (s.definition).position <= (select l.position from unnest(p_rules) l
                                        where l.algorithm = 'production_job'
                                          and l.rule = p_parameters ->> 'last')
  )
  select format('select x.task_number, x.queue_number from %s where x.failed_0 is null',
                brokerage.compose_chain(f.begins, '', f.base, 'true', r.step, false))
    from facts f
   cross join rule r
$$;

comment on function brokerage.compose_check(brokerage.profile_rule[], jsonb, boolean) is
  'SQL of the pairs of tasks and queues (task_number, queue_number) that pass the job check of nuclei; p_parameters '
  'are those of the rule task-job-check. Errors: PB001, PB002 (a rule that does not fit).';
