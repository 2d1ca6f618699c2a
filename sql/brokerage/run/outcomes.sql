-- A run in a few lines: what became of its tasks.
create or replace view brokerage.outcomes as
select d.setup, d.run_id, d.status, count(*) as tasks, min(d.retry_at) as retry_at, min(d.task_id) as example
  from brokerage.task_decision d
 group by d.setup, d.run_id, d.status;

comment on view brokerage.outcomes is 'Tasks of each run by what was decided.';
comment on column brokerage.outcomes.setup is 'Tenant.';
comment on column brokerage.outcomes.run_id is 'Run.';
comment on column brokerage.outcomes.status is 'candidates, pending, throttled, failed or error.';
comment on column brokerage.outcomes.tasks is 'Tasks.';
comment on column brokerage.outcomes.retry_at is 'When the first of them is brokered again; null = they do not wait.';
comment on column brokerage.outcomes.example is 'One of the tasks.';
