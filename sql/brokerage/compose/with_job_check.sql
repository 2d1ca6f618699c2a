-- task-brokerage.md, task-job-check: rules of the job broker of the same profile decide at which nuclei some queue
-- could run the jobs of each task. The parameters of the rule name the last rule that is applied, and rules that are
-- left out. The rules read the task broker's facts of tasks, since brokerage.facts_of_tasks gives both brokers of
-- production the facts that row rules of jobs read.
create or replace function brokerage.with_job_check(
  p_setup text, p_rules brokerage.profile_rule[], p_algorithm text, p_base_profile text,
  p_tasks brokerage.task_facts[]
) returns brokerage.task_facts[]
language plpgsql stable as $$
declare
  v_parameters jsonb := (select r.parameters from unnest(p_rules) r
                          where r.algorithm = p_algorithm and r.function = 'brokerage.rule_task_job_check'
                            and r.enabled);
  v_queues brokerage.queue_facts[];
  v_runnable jsonb;
begin
  if v_parameters is null or cardinality(p_tasks) = 0 then
    return p_tasks;
  end if;
  v_queues := array(select f from brokerage.facts_of_queues(p_setup) f
                     where f.is_nucleus or f.bare_nucleus is not null
                     order by f.queue);
  execute format(
    $q$select coalesce(jsonb_object_agg(t.task_id, s.nuclei), '{}')
         from (select x.task_number, jsonb_object_agg(q.panda_site, true) as nuclei
                 from (%s) x
                 join unnest($3) with ordinality q on q.ordinality = x.queue_number
                where q.panda_site is not null
                group by x.task_number) s
         join unnest($2) with ordinality t on t.ordinality = s.task_number$q$,
    brokerage.compose_check(p_rules, v_parameters, cardinality(p_tasks) * cardinality(v_queues) > 5000))
     into v_runnable
    using brokerage.facts_by_subject(p_setup, 'production_job', p_tasks, v_queues, p_base_profile), p_tasks, v_queues;
  return array(
    select brokerage.with_runnable(u.task, coalesce(v_runnable -> (u.task).task_id::text, '{}'))
      from (select f as task, row_number() over () as number from unnest(p_tasks) f) u
     order by u.number);
end $$;

comment on function brokerage.with_job_check(
  text, brokerage.profile_rule[], text, text, brokerage.task_facts[]) is
  'Facts of tasks with the nuclei where some queue could run their jobs, if the profile asks for it (task-job-check). '
  'Errors: PB001, PB002 (a rule that does not fit).';
