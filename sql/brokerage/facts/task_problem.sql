-- What of a task cannot be read: such a task leaves with this error before any rule runs, and no other task suffers.
create or replace function brokerage.task_problem(t workload.task) returns text
language sql stable
as $$
  select coalesce('architecture: ' || brokerage.architecture_problem(t.architecture),
                  case when jsonb_typeof(t.resource_types_at) <> 'object' then 'resource_types_at is no object' end)
$$;

comment on function brokerage.task_problem(workload.task) is 'Which text of a task cannot be read, and why; null = all can.';
