-- Who has which job.
create or replace view monitor.lease as
select l.setup, l.job_id, l.attempt, l.state, l.site, l.grid_ce, l.role_name, l.matched_at, l.reported_at, l.expires_at,
       l.expires_at < t.now as expired, l.kill_reason, l.task_queue_id, l.user_priority, d.requirements
  from taskqueue.lease l
  join resource.setup_time t on t.setup = l.setup
  left join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id;

comment on view monitor.lease is
  'Matched jobs that have not ended: who has them and since when. The token is not shown.';
comment on column monitor.lease.setup is 'Tenant.';
comment on column monitor.lease.job_id is 'Job.';
comment on column monitor.lease.attempt is 'Number of this match of the job.';
comment on column monitor.lease.state is 'matched or running.';
comment on column monitor.lease.site is 'Site.';
comment on column monitor.lease.grid_ce is 'Computing element.';
comment on column monitor.lease.role_name is 'Database role of the agent.';
comment on column monitor.lease.matched_at is 'When it was matched.';
comment on column monitor.lease.reported_at is 'Last report.';
comment on column monitor.lease.expires_at is 'Until when the next report is awaited.';
comment on column monitor.lease.expired is 'Whether that has passed.';
comment on column monitor.lease.kill_reason is 'Not null: the next report of the agent is answered kill.';
comment on column monitor.lease.task_queue_id is 'Queue it was taken from.';
comment on column monitor.lease.user_priority is 'User priority.';
comment on column monitor.lease.requirements is 'What it asked for.';
