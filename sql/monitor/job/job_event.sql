-- The view shows who had or held a job and how it ended, for brokered jobs and for those that were only inserted. A
-- match is visible as soon as it is made (taskqueue.match).
create or replace view monitor.job_event as
select m.setup, m.job_id, m.at, m.attempt as attempt_number, 'matched' as event, m.task_queue_id, m.site, m.grid_ce,
       m.role_name, m.subject, null::text as host, null::text as error_class, null::jsonb as error,
       null::real as cpu_used, null::real as wall_used, null::real as ram_used, null::smallint as cores_used,
       null::text as error_text, null::text as retry_rule, null::text as passive_rule,
       null::smallint as failures, null::text as why
  from taskqueue.match m
 where (m.setup = (select resource.bound_setup())) is not false
 union all
select h.setup, h.job_id, h.at, h.attempt, h.event, h.task_queue_id, h.site, h.grid_ce, h.role_name, h.subject,
       h.host, h.error_class, h.error, h.cpu_used, h.wall_used, h.ram_used, h.cores_used,
       taskqueue.shown_error(h.error), h.retry_rule, h.passive_rule,
       h.failures, h.why
  from taskqueue.history h
 where h.event <> 'matched' and (h.setup = (select resource.bound_setup())) is not false;

comment on view monitor.job_event is
  'Events of jobs in TaskQueues, one row per event, kept for as long as the setting history_kept of taskqueue says. '
  'Holds are those of the job itself, not of its owner or TaskQueue. Restrict the job, or the time.';
comment on column monitor.job_event.attempt_number is 'Attempt of the job; 0 = never matched.';
comment on column monitor.job_event.event is
  'Event: matched, running, released, expired, held, resumed, changed, kill asked, finished, failed, cancelled, '
  'closed, retried or replaced.';
comment on column monitor.job_event.task_queue_id is
  'TaskQueue that the job was in or was taken from; 0 = loaded from a dump.';
comment on column monitor.job_event.retry_rule is
  'For failed, the retry rule that decided, with its decision; for changed, the rule and the changes that it made to '
  'the requirements; null = none.';
comment on column monitor.job_event.passive_rule is
  'Passive retry rule that fits and comes before that rule, with its decision; null = none.';
comment on column monitor.job_event.failures is
  'Failed ends of the job or part, this one included; null = the setup had no retry rules in force, or the job was '
  'marked for kill.';
comment on column monitor.job_event.why is
  'Reason of a cancellation; only for kill asked and cancelled; null = none was given.';
comment on column monitor.job_event.site is 'Site of the lease; null = there was no lease, or it named no site.';
comment on column monitor.job_event.host is 'HostName of the worker node; only for ends of leases.';
comment on column monitor.job_event.error_class is 'Class of the errors; only for failed.';
comment on column monitor.job_event.error is
  'Errors: [{"source", "code", "text"}], at most seven; only for ends of leases.';
comment on column monitor.job_event.cpu_used is 'CPU time used, seconds; only for ends of leases.';
comment on column monitor.job_event.wall_used is 'Time that the payload ran, seconds; only for ends of leases.';
comment on column monitor.job_event.ram_used is 'Largest memory used, MB; only for ends of leases.';
comment on column monitor.job_event.cores_used is 'Processors used; only for ends of leases.';
comment on column monitor.job_event.error_text is 'The errors in one line; null = there are none.';
