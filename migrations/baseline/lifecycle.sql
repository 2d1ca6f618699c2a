-- The tables of the schema lifecycle as release 0.1.0 has them; revisions change them.

create schema lifecycle;
comment on schema lifecycle is 'Expiry of leases, timeouts, rebrokerage. Uses workload, taskqueue, brokerage.';

--: Settings of the life of jobs: a setup that changed a setting has one row (lifecycle.set_settings).
--: lifecycle.setting_in_force has the settings of every setup.
create table lifecycle.setting (
  setup     text primary key references resource.setup on delete cascade,
  --: Base profile whose timeouts apply; null = the base profile of the setup's profile.
  timeouts  text check (timeouts in ('documented', 'panda2026')),
  --: Maximum number of jobs that one call changes for each rule.
  most      int not null default 10000 check (most > 0),
  --: How long ended jobs are kept in workload.job.
  jobs_kept interval not null default '30 days' check (jobs_kept > interval '0' and jobs_kept <= interval '100 years'),
  --: How long samples of each minute are kept in the history of figures.
  minute_samples_kept interval not null default '2 days'
    check (minute_samples_kept >= interval '3 hours' and minute_samples_kept <= interval '100 years'),
  --: How long means of each hour are kept in the history of figures.
  hour_samples_kept interval not null default '90 days'
    check (hour_samples_kept >= interval '3 days' and hour_samples_kept <= interval '100 years'),
  --: How long means of each day are kept in the history of figures.
  day_samples_kept interval not null default '10 years'
    check (day_samples_kept >= interval '3 days' and day_samples_kept <= interval '100 years'),
  --: Maximum number of series of figures that are kept separately. Later series are added up as other.
  most_series int not null default 20000 check (most_series between 1 and 20000),
  --: Loops of `broker run` that the setup needs, which monitor.health demands; null = maintain and watchdog while there
  --: are jobs, and every loop that once ran. An empty list means no loop: pg_cron or another scheduler does the work.
  loops     text[] check (loops <@ array['maintain', 'watchdog', 'summarize', 'sample', 'notify', 'classify',
                                         'schedule', 'assign-tasks', 'assign-jobs', 'assign-analysis'])
);
comment on constraint setting_timeouts_check on lifecycle.setting is 'documented (or doc) or panda2026';
comment on constraint setting_most_check on lifecycle.setting is 'at least 1';
comment on constraint setting_minute_samples_kept_check on lifecycle.setting is '3 hours to 100 years';
comment on constraint setting_hour_samples_kept_check on lifecycle.setting is '3 days to 100 years';
comment on constraint setting_day_samples_kept_check on lifecycle.setting is '3 days to 100 years';
comment on constraint setting_most_series_check on lifecycle.setting is '1 to 20000';
comment on constraint setting_loops_check on lifecycle.setting is
  'a list of maintain, watchdog, summarize, sample, notify, classify, schedule, assign-tasks, assign-jobs, '
  'assign-analysis';

--: The loops of `broker run`, one row per loop: the process that works on it now, and the outcome of the last rounds.
--: The lead is a lease, not a lock: every step is correct even if two processes work on it. A process writes the rows
--: of all its loops with one statement every few seconds, whatever their periods are, so that no row is hot.
create table lifecycle.loop (
  setup         text references resource.setup on delete cascade,  --: Setup that the loop works on; null = all.
  --: Name of the loop: maintain, watchdog, summarize, sample, notify, classify, schedule, assign-tasks, assign-jobs or
  --: assign-analysis.
  name          text not null,
  --: Process that works on the loop: a number drawn when the process began. Null if the last process stopped.
  holder        uuid,
  held_by       text not null,  --: Host and process that work on the loop, or worked on it last, for people.
  renewed_at    timestamptz not null,  --: When the lead was last taken or renewed.
  --: Time until which no other process takes the lead, by the server's clock, not that of a setup.
  expires_at    timestamptz not null,
  period        interval not null check (period > interval '0'),  --: Time between the beginnings of two rounds.
  began_at      timestamptz,  --: When the last round began; null = no round has begun.
  ended_at      timestamptz,  --: When a round last ended; null = no round has ended.
  errors        jsonb,  --: Failures of the last round by setup; under '' those of the whole round; null = none.
  failing_since timestamptz,  --: Time since which each round has had an error; null = the last round had none.
  unique nulls not distinct (setup, name)
) with (fillfactor = 50);

--: A timeout: the jobs it applies to, the start of their age, the limit, and the action on the job.
--: lifecycle.timeout_rule explains the columns.
create type lifecycle.timeout as (
  position      int,  --: Place in the order.
  rule          text,  --: Name; the sub status of jobs that the timeout ends.
  statuses      text[],  --: Statuses of the jobs that the timeout looks at.
  labels        text[],  --: Labels of these jobs; null = all.
  not_labels    text[],  --: Labels that are left out; null = none.
  priority_from int,  --: Least priority; null = any. A job without one has 0.
  priority_to   int,  --: Highest priority; null = any.
  --: Functions for further conditions: each takes lifecycle.timeout_facts and returns null if the condition holds;
  --: otherwise the reason.
  conditions    text[],
  --: Start of the age: created, modified (or the last report of the JobAgent), state_changed, or waiting (activated,
  --: else created).
  clock         text,
  --: Configuration of pandaserver that has the limit in hours for a workflow or a group, component:KEY; null = none.
  key_by_name   text,
  key           text,  --: Configuration of pandaserver that has the limit in hours, component:KEY; null = none.
  queue_column  text,  --: Column of resource.queue that has the limit in days; null = none.
  queue_setting text,  --: Column of taskqueue.setting that has the limit; null = none.
  constant      interval,  --: Limit if no other source gives one; null = the timeout is then off.
  --: Action: cancel (the job is cancelled), rebroker (the job is closed, and its work goes back to its task) or fail. A
  --: leased job that was sent first returns to its TaskQueue.
  action        text,
  skipped_at    text[],  --: Queues at which the timeout does not apply: paused, or disableReassign in the catchall.
  description   text  --: The timeout in a sentence.
);

--: Facts about a job and its queue that a condition of a timeout reads.
create type lifecycle.timeout_facts as (
  job_id           bigint,  --: Job.
  task_id          bigint,  --: Task; null = none.
  queue            text,  --: Queue; null = none.
  status           text,  --: Status of the job.
  sub_status       text,  --: Sub status; null = none.
  priority         int,  --: Priority; null = none.
  gshare           text,
  label            text,  --: Label.
  user_name        text,
  working_group    text,
  resource_type    text,
  cores            int,  --: Cores.
  processing_type  text,  --: Processing type.
  workflow         text,  --: Workflow of the job.
  relocation_flag  int,  --: Relocation flag; null = not known.
  created          timestamptz,  --: When the job was created.
  modified         timestamptz,  --: Last modification of the job, or the last report of its JobAgent if that is later.
  state_changed    timestamptz,  --: When the status last changed.
  activated        timestamptz,  --: When the job was activated; null = not yet.
  queue_status     text,  --: Status of the queue; null = the queue is not known.
  queue_catchall   text,  --: The queue's catchall.
  queue_last_start timestamptz,  --: When a job last started at the queue; null = not known.
  --: When a job of the task at the queue last changed its status, other than to closed, failed or starting; for a job
  --: without task or queue, when that job did.
  task_changed     timestamptz,
  now              timestamptz  --: The time of the setup.
);

--: Timeouts that an organisation added to those of the base profile (lifecycle.set_timeout). lifecycle.timeout_in_force
--: has all timeouts of a setup.
create table lifecycle.own_timeout (
  setup         text not null references resource.setup on delete cascade,
  --: Name; the sub status of jobs that the timeout ends.
  rule          text not null check (rule ~ '^[a-z][a-z0-9-]{0,49}$'),
  --: Place in the order of all timeouts; those of the base profiles are at 10, 20, 30 and so on.
  position      int not null check (position >= 1 and position <= 99999 and position % 10 <> 0),
  --: Statuses of the jobs that the timeout looks at.
  statuses      text[] not null
    check (statuses <> '{}' and statuses <@ array['pending', 'throttled', 'defined', 'assigned', 'activated', 'sent',
      'starting', 'running', 'holding', 'transferring']),
  labels        text[] check (labels <> '{}'),  --: Labels of these jobs; null = all.
  not_labels    text[],  --: Labels that are left out; null = none.
  priority_from int,  --: Least priority; null = any. A job without one has 0.
  priority_to   int,  --: Highest priority; null = any.
  --: Functions (schema and name) that take lifecycle.timeout_facts and return null if the condition holds; otherwise
  --: the reason.
  conditions    text[] not null default '{}',
  --: Start of the age: created, modified (or the last report of the JobAgent), state_changed, or waiting (activated,
  --: else created).
  clock         text not null check (clock in ('created', 'modified', 'state_changed', 'waiting')),
  --: Configuration of pandaserver that has the limit in hours, component:KEY; null = none.
  key           text check (key ~ '^[a-z_]+:[A-Za-z0-9_]+$'),
  --: Limit if the configuration has none; null = the timeout is off.
  constant      interval check (constant > interval '0' and constant <= interval '100 years'),
  --: Action: cancel (the job is cancelled), rebroker (the job is closed, and its work goes back to its task) or fail.
  action        text not null check (action in ('cancel', 'rebroker', 'fail')),
  --: Queues at which the timeout does not apply: paused, or disableReassign in the catchall.
  skipped_at    text[] not null default '{}' check (skipped_at <@ '{paused,disableReassign}'),
  description   text,  --: The timeout in a sentence.
  primary key (setup, rule),
  unique (setup, position),
  constraint own_timeout_limit check (key is not null or constant is not null)
);
comment on constraint own_timeout_rule_check on lifecycle.own_timeout is 'lower case letters, digits and hyphens';
comment on constraint own_timeout_position_check on lifecycle.own_timeout is '1 to 99999, no multiple of 10';
comment on constraint own_timeout_statuses_check on lifecycle.own_timeout is 'statuses of jobs that have not ended';
comment on constraint own_timeout_labels_check on lifecycle.own_timeout is 'at least one';
comment on constraint own_timeout_key_check on lifecycle.own_timeout is 'component:KEY';
comment on constraint own_timeout_skipped_at_check on lifecycle.own_timeout is 'of paused, disableReassign';
comment on constraint own_timeout_limit on lifecycle.own_timeout is 'with a key, a constant or both';
