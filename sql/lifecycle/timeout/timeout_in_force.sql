create or replace view lifecycle.timeout_in_force as
select s.setup, r.position, r.rule, false as own, r.statuses, r.labels, r.not_labels, r.priority_from, r.priority_to,
       r.conditions, r.clock, r.key_by_name, r.key, r.queue_column, r.queue_setting, r.constant, r.action,
       r.skipped_at, r.description
  from lifecycle.setting_in_force s
  join lifecycle.timeout_rule r on r.profile = s.timeouts
 union all
select o.setup, o.position, o.rule, true, o.statuses, o.labels, o.not_labels, o.priority_from, o.priority_to,
       o.conditions, o.clock, null, o.key, null, null, o.constant, o.action, o.skipped_at, o.description
  from lifecycle.own_timeout o;

comment on view lifecycle.timeout_in_force is
  'Timeouts that apply in each setup, by position: those of its base profile (lifecycle.timeout_rule, which explains '
  'the columns) and its own (lifecycle.set_timeout).';
comment on column lifecycle.timeout_in_force.setup is 'Tenant.';
comment on column lifecycle.timeout_in_force.own is 'Whether lifecycle.set_timeout added the timeout.';
comment on column lifecycle.timeout_in_force.position is 'Place in the order.';
comment on column lifecycle.timeout_in_force.rule is 'Name; the sub status of jobs that the timeout ends.';
comment on column lifecycle.timeout_in_force.statuses is 'Statuses of the jobs that the timeout looks at.';
comment on column lifecycle.timeout_in_force.labels is 'Labels of these jobs; null = all.';
comment on column lifecycle.timeout_in_force.not_labels is 'Labels that are left out; null = none.';
comment on column lifecycle.timeout_in_force.priority_from is 'Least priority; null = any. A job without one has 0.';
comment on column lifecycle.timeout_in_force.priority_to is 'Highest priority; null = any.';
comment on column lifecycle.timeout_in_force.conditions is
  'Functions that say what else must hold: each takes lifecycle.timeout_facts and returns null, or why it does not.';
comment on column lifecycle.timeout_in_force.clock is
  'Since when the age counts: created, modified (or the last report of the JobAgent), state_changed, or waiting '
  '(activated, else created).';
comment on column lifecycle.timeout_in_force.key_by_name is
  'Configuration of pandaserver that has the limit in hours for a workflow or a group, component:KEY; null = none.';
comment on column lifecycle.timeout_in_force.key is
  'Configuration of pandaserver that has the limit in hours, component:KEY; null = none.';
comment on column lifecycle.timeout_in_force.queue_column is
  'Column of resource.queue that has the limit in days; null = none.';
comment on column lifecycle.timeout_in_force.queue_setting is
  'Column of taskqueue.setting that has the limit; null = none.';
comment on column lifecycle.timeout_in_force.constant is
  'Limit if nothing else has one; null = then the timeout is off.';
comment on column lifecycle.timeout_in_force.action is
  'cancel (the job is cancelled), rebroker (the job is closed, its work goes back to its task) or fail; a leased '
  'job that was sent returns to its TaskQueue first.';
comment on column lifecycle.timeout_in_force.skipped_at is
  'Queues at which the timeout does not apply: paused, or disableReassign in the catchall.';
comment on column lifecycle.timeout_in_force.description is 'The timeout in a sentence.';
