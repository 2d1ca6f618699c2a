-- The view shows which agent has which job.
create or replace view monitor.lease as
select l.setup, l.job_id, l.attempt as attempt_number, l.state, l.site, l.grid_ce, l.role_name, l.matched_at,
       l.reported_at, l.expires_at, l.expires_at < t.now as expired, l.kill_reason, l.task_queue_id, l.user_priority,
       d.requirements, coalesce(l.reported_at, l.matched_at) as heard_at, d.owner_dn, d.owner_group,
       l.subject, l.host, l.error, l.cpu_used, l.wall_used, l.ram_used, l.cores_used,
       taskqueue.shown_error(l.error) as error_text
  from taskqueue.lease l
  join resource.setup_time t on t.setup = l.setup
  left join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
 where (l.setup = (select resource.bound_setup())) is not false;

comment on view monitor.lease is
  'Matched jobs that have not ended: who has each, and since when. The token is not shown.';
comment on column monitor.lease.attempt_number is 'Attempt of the job, from 1.';
comment on column monitor.lease.site is 'Site of the lease.';
comment on column monitor.lease.grid_ce is 'Computing element of the lease.';
comment on column monitor.lease.expired is 'Whether the lease has expired.';
comment on column monitor.lease.heard_at is
  'When its agent last reported; before the first report, the time of the match.';
comment on column monitor.lease.owner_dn is 'Owner of the job.';
comment on column monitor.lease.owner_group is 'Owner group of the job.';
comment on column monitor.lease.error_text is 'The errors in one line; null = there are none.';
