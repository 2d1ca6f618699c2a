-- A task with an unreadable text gets this error before any rule runs; other tasks are not affected. Tasks share
-- architectures, so each architecture is read once.
create or replace function brokerage.task_problems(
  p_setup text, p_task_ids bigint[], p_base_profile text, p_algorithm text
) returns table (task_id bigint, problem text)
language sql stable as $$
  with task as materialized (
    select t.task_id, t.architecture, t.resource_types_at, t.included_site, t.excluded_site
      from workload.task t
     where t.setup = p_setup and t.task_id = any (p_task_ids)
  ), architecture as materialized (
    select a.architecture, brokerage.architecture_problem(a.architecture, p_base_profile) as problem
      from (select distinct t.architecture from task t) a
  )
  select t.task_id, p.problem
    from task t
    left join architecture a on a.architecture = t.architecture
   cross join lateral (
     select coalesce(a.problem,
                     case when jsonb_typeof(t.resource_types_at) <> 'object' then 'resource_types_at is no object' end,
                     case when p_base_profile <> 'documented' and p_algorithm = 'analysis_job' then
                       (select format('%s: the pattern %s is %s', s.field, to_json(n.name), x.problem)
                          from (values ('included_site', t.included_site),
                                       ('excluded_site', t.excluded_site)) s(field, names)
                         cross join lateral unnest(s.names) with ordinality n(name, number)
                         cross join lateral (
                           select resource.pattern_problem(brokerage.name_expression(n.name))) x(problem)
                         where x.problem is not null
                         order by s.field desc, n.number limit 1) end)) p(problem)
   where p.problem is not null
$$;

comment on function brokerage.task_problems(text, bigint[], text, text) is
  'Tasks with a text that an algorithm cannot read in a base profile (documented, panda2026), one row per task with '
  'the reason.';
