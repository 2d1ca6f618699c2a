-- The view has the statuses of a job and who changed them. monitor.job_event has its matches and reports by JobAgents.
create or replace view monitor.job_history as
select h.setup, h.job_id, h.at, h.number, h.from_status, h.to_status, h.role_name, h.why
  from workload.job_history h
 where (h.setup = (select resource.bound_setup())) is not false;

comment on view monitor.job_history is
  'The changes of the statuses of brokered jobs, and the requests to do the work of a job again. Such a request leaves '
  'the status as it is. The history is kept for as long as the setting history_kept of taskqueue says.';
comment on column monitor.job_history.why is
  'Reason: the function that was called, or the rule that applied with the age and the limit.';
