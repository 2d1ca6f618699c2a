-- The query of the rule task-job-check finds these nuclei.
create or replace function brokerage.with_runnable(t brokerage.task_facts, p_nuclei jsonb) returns brokerage.task_facts
language plpgsql immutable parallel safe as $$
begin
  t.runnable_at := p_nuclei;
  return t;
end $$;

comment on function brokerage.with_runnable(brokerage.task_facts, jsonb) is
  'Facts of a task with the nuclei where some queue could run its jobs.';
