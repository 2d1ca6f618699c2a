-- anal-loops: the tasks that a run has just decided and decides once more. Their stored decisions are removed:
-- reasons are those of the last pass.
create or replace function brokerage.tasks_of_second_pass(p_run brokerage.run, p_tasks brokerage.task_facts[])
returns brokerage.task_facts[]
language plpgsql as $$
declare
  v_query text := brokerage.compose_second_pass(p_run.profile, p_run.algorithm);
  v_again bigint[];
begin
  if v_query is null then
    return '{}'::brokerage.task_facts[];
  end if;
  -- the last condition is evaluated for the tasks left with none alone, never for all that the run decided
  execute format($q$
    with left_with_none as materialized (
      select s.task_id, s.said
        from (%s) s
        join brokerage.task_decision d on d.setup = $2 and d.run_id = $3 and d.task_id = s.task_id
                                      and d.candidates = 0 and d.rejected > 0)
    select coalesce(array_agg(s.task_id), '{}')
      from left_with_none s
     where s.said = 'any'
        or not exists (select from brokerage.verdict v
                        cross join unnest(v.queues) u
                        cross join unnest($4) r(begins)
                        where v.setup = $2 and v.run_id = $3 and v.task_id = s.task_id and u.verdict = 'r'
                          and starts_with(u.rule || E'\t' || u.reason, r.begins)
                       offset 0)
    $q$, v_query)
     into v_again using p_tasks, p_run.setup, p_run.run_id, brokerage.temporary_rules(p_run.profile, p_run.algorithm);
  if cardinality(v_again) = 0 then
    return '{}'::brokerage.task_facts[];
  end if;
  delete from brokerage.verdict v where v.setup = p_run.setup and v.run_id = p_run.run_id and v.task_id = any (v_again);
  delete from brokerage.task_decision d
   where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = any (v_again);
  return array(
    select brokerage.in_second_pass(f) from unnest(p_tasks) f where f.task_id = any (v_again) order by f.task_id);
end $$;

comment on function brokerage.tasks_of_second_pass(brokerage.run, brokerage.task_facts[]) is
  'The tasks, just decided in a run, that are decided once more; removes their stored decisions. Errors: PB001, PB002 '
  '(a rule that does not fit).';
