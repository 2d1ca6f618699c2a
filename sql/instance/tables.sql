-- Tables, types and sequences of the schema instance, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

-- Ids of instances that instance.schedule requests.
create sequence instance.instance_id;

-- Ids of steps that are added without one.
create sequence instance.step_id;

-- Computation instances: rented machines that steps are packed onto. What is free follows from what an instance has and
-- what its steps use.
create table instance.instance (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  instance_id bigint not null,  -- Number of the instance.
  type text not null,  -- Instance type (resource.instance_type).
  task_id bigint,  -- Task that the instance was requested for; null = steps of every task may use it.
  -- requested, running or released.
  state text default 'running'::text not null check (state = any (array['requested'::text, 'running'::text,
    'released'::text])),
  -- PanDA queue of kind cloud whose jobs the instance takes; null = it takes the steps of instance.add_jobs.
  queue text,
  cpu numeric,  -- Cores that the instance has; null in a world = those of its type.
  ram numeric,  -- Memory that the instance has (MB); null in a world = that of its type.
  price numeric,  -- Price per hour; null in a world = that of its type.
  used_cpu numeric default 0 not null,  -- Cores of the steps that are placed on the instance.
  used_ram numeric default 0 not null,  -- Memory (MB) of the steps that are placed on the instance.
  requested_at timestamp with time zone,  -- When the instance was requested; null = not known.
  started_at timestamp with time zone,  -- When the instance began to run; null = not yet, or not known.
  released_at timestamp with time zone,  -- When the instance was released; null = not yet, or not known.
  constraint instance_pkey primary key (setup, instance_id),
  constraint instance_cpu_allowed check (cpu > 0::numeric and cpu < 1e9),  -- more than 0 and less than 1e9
  -- steps use at most the cores of the instance
  constraint instance_cpu_used check (used_cpu >= 0::numeric and used_cpu <= coalesce(cpu, used_cpu)),
  -- 1 to 1e18
  constraint instance_instance_id_allowed check (instance_id >= 1 and instance_id::numeric <=
    '1000000000000000000'::numeric),
  constraint instance_price_allowed check (price >= 0::numeric and price < 1e15),  -- 0 or more, and less than 1e15
  constraint instance_ram_allowed check (ram > 0::numeric and ram < 1e15),  -- more than 0 and less than 1e15
  -- steps use at most the memory of the instance
  constraint instance_ram_used check (used_ram >= 0::numeric and used_ram <= coalesce(ram, used_ram))
);
-- Instances of a task that are not released.
create index instance_live on instance.instance (setup, task_id) where (state <> 'released'::text);
-- Instances by the time of their release, to delete old ones.
create index instance_released on instance.instance (setup, released_at) where (state = 'released'::text);

-- How instances are scheduled in a setup (instance.set_settings); a setup without a row has the defaults.
create table instance.setting (
  -- Tenant: DIRAC's Setup, PanDA's vo.
  setup text not null primary key references resource.setup(setup) on delete cascade,
  most_instances integer check (most_instances >= 0),  -- The most instances that are not released; null = no limit.
  -- The same for each task that has no limit of its own; null = no limit.
  most_per_task integer check (most_per_task >= 0),
  -- Which steps are placed first: dearest or cheapest, by the price of the instance type that each requires.
  first text default 'dearest'::text not null check (first = any (array['dearest'::text, 'cheapest'::text]))
);

-- Steps of tasks, which are packed onto instances: one execution that needs cores and memory. A need is a number, or an
-- expression of inputs until they are known.
create table instance.step (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  step_id bigint not null,  -- Number of the step.
  task_id bigint,  -- Task; null = none.
  cpu numeric check (cpu >= 0::numeric and cpu < 1e9),  -- Cores that the step needs; null = not known yet.
  -- Cores as an expression of inputs, such as ceil(size / 1000); null = a number was given, or nothing.
  cpu_expression text,
  ram numeric check (ram >= 0::numeric and ram < 1e15),  -- Memory that the step needs (MB); null = not known yet.
  -- Memory (MB) as an expression of inputs, such as 2 * size; null = a number was given, or nothing.
  ram_expression text,
  instance_type text,  -- Hint: the type that its instance must have; null = any that fits.
  instance_id bigint,  -- Instance that the step is placed on, or was on when it ended; null = none.
  -- waiting, placed, finished, cancelled, or unschedulable (no type can take it; the reason names what is short).
  state text default 'waiting'::text not null,
  -- Inputs that expressions read, as far as they are known: name to number.
  inputs jsonb default '{}'::jsonb not null check (jsonb_typeof(inputs) = 'object'::text),
  queue text,  -- PanDA queue of kind cloud that the step waits for; null = none.
  job_id bigint,  -- Job of a TaskQueue that the step stands for (instance.follow_taskqueues); null = none.
  reason text,  -- Why the step is placed there, waits, or is unschedulable; null = no schedule has looked at it.
  placed_at timestamp with time zone,  -- When the step was placed; null = it is on no instance, or not known.
  ended_at timestamp with time zone,  -- When the step finished or was cancelled; null = not yet, or not known.
  constraint step_pkey primary key (setup, step_id),
  -- waiting, placed, finished, cancelled or unschedulable
  constraint step_state_allowed check (state = any (array['waiting'::text, 'placed'::text, 'finished'::text,
    'cancelled'::text, 'unschedulable'::text])),
  -- 1 to 1e18
  constraint step_step_id_allowed check (step_id >= 1 and step_id::numeric <= '1000000000000000000'::numeric)
);
-- Steps by the time of their end, to delete old ones.
create index step_ended on instance.step (setup, ended_at) where (state = any (array['finished'::text,
  'cancelled'::text]));
-- The step that stands for a job; at most one.
create unique index step_of_job on instance.step (setup, job_id) where (job_id is not null);
-- Steps that are placed on an instance.
create index step_placed on instance.step (setup, instance_id) where (state = 'placed'::text);
-- Steps of a task that are on no instance.
create index step_unplaced on instance.step (setup, task_id) where (state = any (array['waiting'::text,
  'unschedulable'::text]));

-- How many instances a task may have, where it has a limit of its own (instance.set_task_limit).
create table instance.task_limit (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_id bigint not null,  -- Task.
  most_instances integer not null check (most_instances >= 0),  -- The most instances that are not released.
  constraint task_limit_pkey primary key (setup, task_id)
);
