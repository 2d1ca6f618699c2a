-- Tables, types and sequences of the schema lifecycle, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

-- A timeout: which jobs, since when the age counts, the limit and what becomes of the job. lifecycle.timeout_rule
-- explains the columns.
create type lifecycle.timeout as (
  "position" integer,  -- Place in the order.
  rule text,  -- Name; the sub status of jobs that the timeout ends.
  statuses text[],  -- Statuses of the jobs that the timeout looks at.
  labels text[],  -- Labels of these jobs; null = all.
  not_labels text[],  -- Labels that are left out; null = none.
  priority_from integer,  -- Least priority; null = any. A job without one has 0.
  priority_to integer,  -- Highest priority; null = any.
  -- Functions that say what else must hold: each takes lifecycle.timeout_facts and returns null, or why it does not.
  conditions text[],
  -- Since when the age counts: created, modified (or the last report of the JobAgent), state_changed, or waiting
  -- (activated, else created).
  clock text,
  -- Configuration of pandaserver that has the limit in hours for a workflow or a group, component:KEY; null = none.
  key_by_name text,
  key text,  -- Configuration of pandaserver that has the limit in hours, component:KEY; null = none.
  queue_column text,  -- Column of resource.queue that has the limit in days; null = none.
  queue_setting text,  -- Column of taskqueue.setting that has the limit; null = none.
  constant interval,  -- Limit if nothing else has one; null = then the timeout is off.
  -- cancel (the job is cancelled), rebroker (the job is closed, its work goes back to its task) or fail; a leased job
  -- that was sent returns to its TaskQueue first.
  action text,
  skipped_at text[],  -- Queues at which the timeout does not apply: paused, or disableReassign in the catchall.
  description text  -- The timeout in a sentence.
);

-- What a condition of a timeout sees of a job and its queue.
create type lifecycle.timeout_facts as (
  job_id bigint,  -- Job.
  task_id bigint,  -- Task; null = none.
  queue text,  -- Queue; null = none.
  status text,  -- Status of the job.
  sub_status text,  -- Sub status; null = none.
  priority integer,  -- Priority; null = none.
  gshare text,  -- Global share.
  label text,  -- Label.
  user_name text,  -- User.
  working_group text,  -- Working group.
  resource_type text,  -- Resource type.
  cores integer,  -- Cores.
  processing_type text,  -- Processing type.
  workflow text,  -- Workflow of the job.
  relocation_flag integer,  -- Relocation flag; null = not known.
  created timestamp with time zone,  -- When the job was created.
  -- Last modification of the job, or the last report of its JobAgent if that is later.
  modified timestamp with time zone,
  state_changed timestamp with time zone,  -- When the status last changed.
  activated timestamp with time zone,  -- When the job was activated; null = not yet.
  queue_status text,  -- Status of the queue; null = the queue is not known.
  queue_catchall text,  -- The queue's catchall.
  queue_last_start timestamp with time zone,  -- When a job last started at the queue; null = not known.
  -- When a job of the task at the queue last changed its status, other than to closed, failed or starting; for a job
  -- without task or queue when the job did.
  task_changed timestamp with time zone,
  now timestamp with time zone  -- The time of the setup.
);

-- Who watches now. A lease, not a lock: every step is right with two who watch.
create table lifecycle.leader (
  name text not null primary key,  -- What is done by one at a time: watchdog.
  holder uuid not null,  -- Who: a number drawn when it began.
  held_by text not null,  -- Its host and process, for people.
  -- Until then nobody else does it; by the server's clock, not that of a setup.
  expires_at timestamp with time zone not null
);

-- Timeouts that an organisation added to those of the base profile (lifecycle.set_timeout). lifecycle.timeout_in_force
-- has all of a setup.
create table lifecycle.own_timeout (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  -- Name; the sub status of jobs that the timeout ends.
  rule text not null check (rule ~ '^[a-z][a-z0-9-]{0,49}$'::text),
  -- Place in the order of all timeouts; those of the base profiles are at 10, 20, 30 and so on.
  "position" integer not null check ("position" >= 1 and "position" <= 99999 and ("position" % 10) <> 0),
  -- Statuses of the jobs that the timeout looks at.
  statuses text[] not null check (statuses <> '{}'::text[] and statuses <@ array['pending'::text, 'throttled'::text,
    'defined'::text, 'assigned'::text, 'activated'::text, 'sent'::text, 'starting'::text, 'running'::text,
    'holding'::text, 'transferring'::text]),
  labels text[] check (labels <> '{}'::text[]),  -- Labels of these jobs; null = all.
  not_labels text[],  -- Labels that are left out; null = none.
  priority_from integer,  -- Least priority; null = any. A job without one has 0.
  priority_to integer,  -- Highest priority; null = any.
  -- Functions, schema and name, that take lifecycle.timeout_facts and return null if the condition holds, else why not.
  conditions text[] default '{}'::text[] not null,
  -- Since when the age counts: created, modified (or the last report of the JobAgent), state_changed, or waiting
  -- (activated, else created).
  clock text not null check (clock = any (array['created'::text, 'modified'::text, 'state_changed'::text,
    'waiting'::text])),
  -- Configuration of pandaserver that has the limit in hours, component:KEY; null = none.
  key text check (key ~ '^[a-z_]+:[A-Za-z0-9_]+$'::text),
  -- Limit if the configuration has none; null = the timeout is off.
  constant interval check (constant > '00:00:00'::interval and constant <= '100 years'::interval),
  -- cancel (the job is cancelled), rebroker (the job is closed, its work goes back to its task) or fail.
  action text not null check (action = any (array['cancel'::text, 'rebroker'::text, 'fail'::text])),
  -- Queues at which the timeout does not apply: paused, or disableReassign in the catchall.
  skipped_at text[] default '{}'::text[] not null check (skipped_at <@ '{paused,disableReassign}'::text[]),
  description text,  -- The timeout in a sentence.
  constraint own_timeout_pkey primary key (setup, rule),
  constraint own_timeout_setup_position_key unique (setup, "position"),
  constraint own_timeout_limit check (key is not null or constant is not null)  -- with a key, a constant or both
);

-- Settings of the life of jobs, one row a setup that changed one (lifecycle.set_settings). lifecycle.setting_in_force
-- has those of every setup.
create table lifecycle.setting (
  -- Tenant: DIRAC's Setup, PanDA's vo.
  setup text not null primary key references resource.setup(setup) on delete cascade,
  -- Base profile whose timeouts apply; null = the base profile of the setup's profile.
  timeouts text check (timeouts = any (array['documented'::text, 'panda2026'::text])),
  most integer default 10000 not null check (most > 0),  -- Jobs that one call touches at most, by rule.
  -- How long ended jobs are kept in workload.job.
  jobs_kept interval default '30 days'::interval not null check (jobs_kept > '00:00:00'::interval and jobs_kept <=
    '100 years'::interval)
);
