-- A task with a text that cannot be read gets this error before any rule runs, and no other task suffers.
create or replace function brokerage.task_problem(t workload.task, p_base_profile text, p_algorithm text) returns text
language sql stable as $$
  select coalesce('architecture: ' || brokerage.architecture_problem(t.architecture),
                  case when jsonb_typeof(t.resource_types_at) <> 'object' then 'resource_types_at is no object' end,
                  case when p_base_profile <> 'documented' and p_algorithm = 'analysis_job' then
                    (select format('%s: the pattern %s is %s', s.field, to_json(n.name), x.problem)
                       from (values ('included_site', t.included_site),
                                    ('excluded_site', t.excluded_site)) s(field, names)
                      cross join lateral unnest(s.names) with ordinality n(name, number)
                      cross join lateral (
                        select brokerage.pattern_problem(brokerage.name_expression(n.name))) x(problem)
                      where x.problem is not null
                      order by s.field desc, n.number limit 1) end)
$$;

comment on function brokerage.task_problem(workload.task, text, text) is
  'The text of a task that an algorithm cannot read in a base profile (documented, panda2026), and why; null = all '
  'can be read.';
