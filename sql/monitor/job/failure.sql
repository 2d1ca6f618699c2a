-- The newest failures of a setup are found by an index (history_failed), and those of a job by the job. Owner and task
-- are subqueries, so that a query that names neither looks up neither.
create or replace view monitor.failure as
select h.setup, h.at, h.job_id, h.attempt as attempt_number, h.site, h.grid_ce, h.host, h.error_class as class,
       h.error -> 0 ->> 'source' as source, (h.error -> 0 ->> 'code')::int as code, h.error -> 0 ->> 'text' as text,
       h.error, h.cpu_used, h.wall_used, h.ram_used, h.cores_used,
       (select d.owner_dn from taskqueue.kept_definition d
         where d.setup = h.setup and d.definition_id = h.definition_id) as owner_dn,
       (select d.owner_group from taskqueue.kept_definition d
         where d.setup = h.setup and d.definition_id = h.definition_id) as owner_group,
       (select j.task_id from workload.job j where j.setup = h.setup and j.job_id = h.job_id) as task_id,
       taskqueue.shown_error(h.error) as error_text
  from taskqueue.history h
 where h.error_class is not null and (h.setup = (select resource.bound_setup())) is not false;

comment on view monitor.failure is
  'Matched jobs that failed: a row for each failed end. The setting history_kept of taskqueue bounds their age. '
  'history.failures counts them. Restrict the setup, and the job or the time.';
comment on column monitor.failure.at is 'When the job failed.';
comment on column monitor.failure.attempt_number is 'Attempt of the job, from 1.';
comment on column monitor.failure.class is 'Class of the errors.';
comment on column monitor.failure.source is 'Source of the first error, such as pilot; null = no error was reported.';
comment on column monitor.failure.code is 'Code of the first error; null = it has none.';
comment on column monitor.failure.text is 'Text of the first error, as the pilot wrote it; null = it has none.';
comment on column monitor.failure.owner_dn is 'Owner of the job; null = its requirements are no longer kept.';
comment on column monitor.failure.owner_group is 'Owner group of the job; null as for owner_dn.';
comment on column monitor.failure.task_id is 'Task of the job; null = the job has no task.';
comment on column monitor.failure.error_text is 'All errors in one line; null = there are none.';
