-- The tables of the schema lifecycle. Edited in place until the first release; afterwards revisions change them.

create schema lifecycle;
comment on schema lifecycle is 'Leases expiring, timeouts, rebrokerage. Uses workload, taskqueue, brokerage.';

create table lifecycle.setting (
  setup     text primary key references resource.setup on delete cascade,
  timeouts  text check (timeouts in ('documented', 'panda2026')),
  most      int not null default 10000 check (most > 0),
  jobs_kept interval not null default '30 days' check (jobs_kept > interval '0' and jobs_kept <= interval '100 years')
);
comment on table lifecycle.setting is
  'Settings of the life of jobs, one row a setup that changed one (lifecycle.set_settings). '
  'lifecycle.setting_in_force has those of every setup.';
comment on column lifecycle.setting.timeouts is
  'Base profile whose timeouts apply; null = the base profile of the setup''s profile.';
comment on column lifecycle.setting.most is 'Jobs that one call touches at most, by rule.';
comment on column lifecycle.setting.jobs_kept is 'How long ended jobs are kept in workload.job.';
comment on constraint setting_timeouts_check on lifecycle.setting is 'documented (or doc) or panda2026';
comment on constraint setting_most_check on lifecycle.setting is 'at least 1';

create table lifecycle.leader (
  name       text primary key,
  holder     uuid not null,
  held_by    text not null,
  expires_at timestamptz not null
);
comment on table lifecycle.leader is 'Who watches now. A lease, not a lock: every step is right with two who watch.';
comment on column lifecycle.leader.name is 'What is done by one at a time: watchdog.';
comment on column lifecycle.leader.holder is 'Who: a number drawn when it began.';
comment on column lifecycle.leader.held_by is 'Its host and process, for people.';
comment on column lifecycle.leader.expires_at is
  'Until then nobody else does it; by the server''s clock, not that of a setup.';

create type lifecycle.timeout as (
  position      int,
  rule          text,
  statuses      text[],
  labels        text[],
  not_labels    text[],
  priority_from int,
  priority_to   int,
  conditions    text[],
  clock         text,
  key_by_name   text,
  key           text,
  queue_column  text,
  queue_setting text,
  constant      interval,
  action        text,
  skipped_at    text[],
  description   text
);
comment on type lifecycle.timeout is
  'A timeout: which jobs, since when the age counts, the limit and what becomes of the job. lifecycle.timeout_rule '
  'explains the columns.';
comment on column lifecycle.timeout.position is 'Place in the order.';
comment on column lifecycle.timeout.rule is 'Name; the sub status of jobs that the timeout ends.';
comment on column lifecycle.timeout.statuses is 'Statuses of the jobs that the timeout looks at.';
comment on column lifecycle.timeout.labels is 'Labels of these jobs; null = all.';
comment on column lifecycle.timeout.not_labels is 'Labels that are left out; null = none.';
comment on column lifecycle.timeout.priority_from is 'Least priority; null = any. A job without one has 0.';
comment on column lifecycle.timeout.priority_to is 'Highest priority; null = any.';
comment on column lifecycle.timeout.conditions is
  'Functions that say what else must hold: each takes lifecycle.timeout_facts and returns null, or why it does not.';
comment on column lifecycle.timeout.clock is
  'Since when the age counts: created, modified (or the last report of the JobAgent), state_changed, or waiting '
  '(activated, else created).';
comment on column lifecycle.timeout.key_by_name is
  'Configuration of pandaserver that has the limit in hours for a workflow or a group, component:KEY; null = none.';
comment on column lifecycle.timeout.key is
  'Configuration of pandaserver that has the limit in hours, component:KEY; null = none.';
comment on column lifecycle.timeout.queue_column is 'Column of resource.queue that has the limit in days; null = none.';
comment on column lifecycle.timeout.queue_setting is 'Column of taskqueue.setting that has the limit; null = none.';
comment on column lifecycle.timeout.constant is 'Limit if nothing else has one; null = then the timeout is off.';
comment on column lifecycle.timeout.action is
  'cancel (the job is cancelled), rebroker (the job is closed, its work goes back to its task) or fail; a leased '
  'job that was sent returns to its TaskQueue first.';
comment on column lifecycle.timeout.skipped_at is
  'Queues at which the timeout does not apply: paused, or disableReassign in the catchall.';
comment on column lifecycle.timeout.description is 'The timeout in a sentence.';

create type lifecycle.timeout_facts as (
  job_id           bigint,
  task_id          bigint,
  queue            text,
  status           text,
  sub_status       text,
  priority         int,
  gshare           text,
  label            text,
  user_name        text,
  working_group    text,
  resource_type    text,
  cores            int,
  processing_type  text,
  workflow         text,
  relocation_flag  int,
  created          timestamptz,
  modified         timestamptz,
  state_changed    timestamptz,
  activated        timestamptz,
  queue_status     text,
  queue_catchall   text,
  queue_last_start timestamptz,
  task_changed     timestamptz,
  now              timestamptz
);
comment on type lifecycle.timeout_facts is
  'What a condition of a timeout sees of a job and its queue.';
comment on column lifecycle.timeout_facts.job_id is 'Job.';
comment on column lifecycle.timeout_facts.task_id is 'Task; null = none.';
comment on column lifecycle.timeout_facts.queue is 'Queue; null = none.';
comment on column lifecycle.timeout_facts.status is 'Status of the job.';
comment on column lifecycle.timeout_facts.sub_status is 'Sub status; null = none.';
comment on column lifecycle.timeout_facts.priority is 'Priority; null = none.';
comment on column lifecycle.timeout_facts.label is 'Label.';
comment on column lifecycle.timeout_facts.cores is 'Cores.';
comment on column lifecycle.timeout_facts.processing_type is 'Processing type.';
comment on column lifecycle.timeout_facts.workflow is 'Workflow of the job.';
comment on column lifecycle.timeout_facts.relocation_flag is 'Relocation flag; null = not known.';
comment on column lifecycle.timeout_facts.created is 'When the job was created.';
comment on column lifecycle.timeout_facts.state_changed is 'When the status last changed.';
comment on column lifecycle.timeout_facts.activated is 'When the job was activated; null = not yet.';
comment on column lifecycle.timeout_facts.modified is
  'Last modification of the job, or the last report of its JobAgent if that is later.';
comment on column lifecycle.timeout_facts.queue_status is 'Status of the queue; null = the queue is not known.';
comment on column lifecycle.timeout_facts.queue_catchall is 'The queue''s catchall.';
comment on column lifecycle.timeout_facts.queue_last_start is
  'When a job last started at the queue; null = not known.';
comment on column lifecycle.timeout_facts.task_changed is
  'When a job of the task at the queue last changed its status, other than to closed, failed or starting; for a job '
  'without task or queue when the job did.';
comment on column lifecycle.timeout_facts.now is 'The time of the setup.';

create table lifecycle.own_timeout (
  setup         text not null references resource.setup on delete cascade,
  rule          text not null check (rule ~ '^[a-z][a-z0-9-]{0,49}$'),
  position      int not null check (position >= 1 and position <= 99999 and position % 10 <> 0),
  statuses      text[] not null
    check (statuses <> '{}' and statuses <@ array['pending', 'throttled', 'defined', 'assigned', 'activated', 'sent',
      'starting', 'running', 'holding', 'transferring']),
  labels        text[] check (labels <> '{}'),
  not_labels    text[],
  priority_from int,
  priority_to   int,
  conditions    text[] not null default '{}',
  clock         text not null check (clock in ('created', 'modified', 'state_changed', 'waiting')),
  key           text check (key ~ '^[a-z_]+:[A-Za-z0-9_]+$'),
  constant      interval check (constant > interval '0' and constant <= interval '100 years'),
  action        text not null check (action in ('cancel', 'rebroker', 'fail')),
  skipped_at    text[] not null default '{}' check (skipped_at <@ '{paused,disableReassign}'),
  description   text,
  primary key (setup, rule),
  unique (setup, position),
  constraint own_timeout_limit check (key is not null or constant is not null)
);
comment on table lifecycle.own_timeout is
  'Timeouts that an organisation added to those of the base profile (lifecycle.set_timeout). '
  'lifecycle.timeout_in_force has all of a setup.';
comment on column lifecycle.own_timeout.rule is 'Name; the sub status of jobs that the timeout ends.';
comment on column lifecycle.own_timeout.position is
  'Place in the order of all timeouts; those of the base profiles are at 10, 20, 30 and so on.';
comment on column lifecycle.own_timeout.statuses is 'Statuses of the jobs that the timeout looks at.';
comment on column lifecycle.own_timeout.labels is 'Labels of these jobs; null = all.';
comment on column lifecycle.own_timeout.not_labels is 'Labels that are left out; null = none.';
comment on column lifecycle.own_timeout.priority_from is 'Least priority; null = any. A job without one has 0.';
comment on column lifecycle.own_timeout.priority_to is 'Highest priority; null = any.';
comment on column lifecycle.own_timeout.conditions is
  'Functions, schema and name, that take lifecycle.timeout_facts and return null if the condition holds, else why not.';
comment on column lifecycle.own_timeout.clock is
  'Since when the age counts: created, modified (or the last report of the JobAgent), state_changed, or waiting '
  '(activated, else created).';
comment on column lifecycle.own_timeout.key is
  'Configuration of pandaserver that has the limit in hours, component:KEY; null = none.';
comment on column lifecycle.own_timeout.constant is 'Limit if the configuration has none; null = the timeout is off.';
comment on column lifecycle.own_timeout.action is
  'cancel (the job is cancelled), rebroker (the job is closed, its work goes back to its task) or fail.';
comment on column lifecycle.own_timeout.skipped_at is
  'Queues at which the timeout does not apply: paused, or disableReassign in the catchall.';
comment on column lifecycle.own_timeout.description is 'The timeout in a sentence.';
comment on constraint own_timeout_rule_check on lifecycle.own_timeout is 'lower case letters, digits and hyphens';
comment on constraint own_timeout_position_check on lifecycle.own_timeout is '1 to 99999, no multiple of 10';
comment on constraint own_timeout_statuses_check on lifecycle.own_timeout is 'statuses of jobs that have not ended';
comment on constraint own_timeout_labels_check on lifecycle.own_timeout is 'at least one';
comment on constraint own_timeout_clock_check on lifecycle.own_timeout is
  'created, modified, state_changed or waiting';
comment on constraint own_timeout_key_check on lifecycle.own_timeout is 'component:KEY';
comment on constraint own_timeout_action_check on lifecycle.own_timeout is 'cancel, rebroker or fail';
comment on constraint own_timeout_skipped_at_check on lifecycle.own_timeout is 'of paused, disableReassign';
comment on constraint own_timeout_limit on lifecycle.own_timeout is 'with a key, a constant or both';
